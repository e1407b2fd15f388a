"""The checks of a batch before it is appended."""
