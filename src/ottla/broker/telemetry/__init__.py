"""Metrics of clients (KIP-714): which ones a client shall push, and what clients have pushed."""
