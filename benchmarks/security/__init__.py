"""Loads over TLS beside Apache Kafka, and what authorization costs."""

from benchmarks.security.suite import run

__all__ = ["run"]
