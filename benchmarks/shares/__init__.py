"""Share groups of an Ottla node and of an Apache Kafka broker, side by side."""

from benchmarks.shares.suite import run

__all__ = ["run"]
