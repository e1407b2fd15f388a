"""Connections of clients: frames in, responses out in order."""
