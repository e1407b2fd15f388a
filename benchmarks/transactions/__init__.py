"""Transactions of one Ottla node beside those of one Apache Kafka broker, same clients."""

from benchmarks.transactions.suite import run

__all__ = ["run"]
