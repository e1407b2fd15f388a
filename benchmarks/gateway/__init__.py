"""The HTTP gateway in front of one node: requests with keep-alive, as many as one core answers."""

from benchmarks.gateway.suite import run

__all__ = ["run"]
