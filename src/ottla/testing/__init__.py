"""A real node inside a test: any Kafka client can connect to it.

from ottla.testing import Cluster

with Cluster() as cluster:
    producer = Producer({"bootstrap.servers": cluster.bootstrap})
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ottla.testing.cluster import Cluster

__all__ = ["Cluster"]


def __getattr__(name: str) -> Any:
    """Imports the cluster when it is asked for, since pytest loads this package every time."""
    if name == "Cluster":
        from ottla.testing.cluster import Cluster

        return Cluster
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
