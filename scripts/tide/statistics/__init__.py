"""From scores and token counts of TIDE to its statistics files."""
