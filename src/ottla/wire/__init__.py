"""Kafka's protocol: bytes to values and back, and nothing else."""
