"""The Python clients beside each other, on one core, with the same node."""

from benchmarks.client.suite import run

__all__ = ["run"]
