"""Parsers of values on the command line."""
