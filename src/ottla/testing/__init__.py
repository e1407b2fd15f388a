"""A real node inside a test: any Kafka client can connect to it.

from ottla.testing import Cluster

with Cluster() as cluster:
    producer = Producer({"bootstrap.servers": cluster.bootstrap})
"""

from ottla.testing.cluster import Cluster

__all__ = ["Cluster"]
