"""What is checked in a batch before it is appended."""
