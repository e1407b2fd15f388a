"""Small files that are replaced atomically, file names, and file slices to send."""
