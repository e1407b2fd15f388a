"""Three Ottla nodes beside three of Apache Kafka: same machine, same client, same settings."""

from benchmarks.cluster.suite import run

__all__ = ["run"]
