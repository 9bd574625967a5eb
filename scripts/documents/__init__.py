"""From a PDF to pages with checked text, tables and one structured record; knows no benchmark."""
