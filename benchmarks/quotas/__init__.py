"""Clients that are held to their quotas, those beside them, and what quotas cost the others."""

from benchmarks.quotas.suite import run

__all__ = ["run"]
