"""Small files replaced as a whole, names of files, and slices of files to send."""
