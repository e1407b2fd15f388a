"""Ottla: a replicated commit log that speaks Kafka's protocol and writes Kafka's files."""

# The only place that has the version: the build reads it from here.
__version__ = "0.1.0"
