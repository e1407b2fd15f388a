"""From the bytes of a fetch response to records and columns."""
