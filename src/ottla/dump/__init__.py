"""Decodes the files of a log: from a path to rows, verification results and statistics."""
