"""Terminals, tables and progress."""
