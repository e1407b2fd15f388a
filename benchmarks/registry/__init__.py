"""A schema registry over one Ottla node."""

from benchmarks.registry.suite import run

__all__ = ["run"]
