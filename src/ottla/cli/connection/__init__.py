"""Connections of commands to a cluster, and their error messages."""
