"""How values are written on the command line."""
