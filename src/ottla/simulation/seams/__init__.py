"""Virtual time, event loops on it, and dice with a seed."""
