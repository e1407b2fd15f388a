"""Files of client properties."""
