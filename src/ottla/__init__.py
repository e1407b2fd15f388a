"""Ottla: a replicated commit log that speaks Kafka's protocol and writes Kafka's files."""
