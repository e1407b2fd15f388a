"""The sink while nodes of a cluster die under it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from unittest.mock import patch

import pyarrow as pa
import pytest
from confluent_kafka.admin import AdminClient

from ottla.pipeline.writing import task
from ottla.testing import Cluster
from tests.support.spark.spark_sink import Query, rows, values

PARTITIONS = 3
PIECES = 40
PIECE_ROWS = 50


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=3) as cluster:
        cluster.create_topic("target", partitions=PARTITIONS)
        yield cluster


def leader(cluster: Cluster) -> int:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    return int(admin.list_topics("target", 30).topics["target"].partitions[0].leader)


def test_rows_are_in_once_although_leaders_die_between_them(cluster: Cluster) -> None:
    """Each row's partition is led by another node sooner or later, and so is the coordinator."""
    query = Query(cluster.bootstrap, "failing-over", topic="target", **{"kafka.batch.size": "500"})
    killed = 0

    def pieces(batch_id: int) -> Iterator[pa.RecordBatch]:
        nonlocal killed
        for piece in range(PIECES):
            start = (batch_id * PIECES + piece) * PIECE_ROWS
            yield rows([b"%d" % number for number in range(start, start + PIECE_ROWS)])
            if piece == PIECES // 2:
                killed = leader(cluster)
                cluster.kill(killed)

    with patch.object(task, "_CHUNK_BYTES", 1):
        for batch_id in range(2):
            prepared = query.prepare_pieces(batch_id, 0, pieces(batch_id))
            cluster.restart(killed)
            query.commit(batch_id, [prepared])
    total = 2 * PIECES * PIECE_ROWS
    found = values(cluster.bootstrap, "target", count=total)
    assert found == Counter(b"%d" % number for number in range(total))
