"""Pure functions, arrays in and numbers out; knows no benchmark."""
