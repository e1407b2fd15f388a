"""Consumer groups of an Ottla node and of an Apache Kafka broker, side by side."""

from benchmarks.groups.suite import run

__all__ = ["run"]
