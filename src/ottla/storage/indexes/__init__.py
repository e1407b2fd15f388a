"""The indexes of a segment: by offset, by timestamp, and of aborted transactions."""
