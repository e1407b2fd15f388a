"""A real cluster inside a test process, for any Kafka client.

    from ottla.testing import Cluster

    with Cluster() as cluster:
        producer = Producer({"bootstrap.servers": cluster.bootstrap})

With pytest, use the fixture `ottla_cluster`.
"""

from typing import TYPE_CHECKING

from ottla.exports import lazy_names

if TYPE_CHECKING:
    from ottla.testing.cluster import Cluster
else:
    __getattr__, __dir__ = lazy_names(__name__, {"Cluster": "ottla.testing.cluster"})

__all__ = ["Cluster"]
