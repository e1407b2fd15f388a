"""Kafka's messages, one module per API."""
