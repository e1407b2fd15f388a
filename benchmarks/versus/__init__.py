"""One Ottla node beside one Apache Kafka broker: same machine, same clients, same settings."""

from benchmarks.versus.suite import run

__all__ = ["run"]
