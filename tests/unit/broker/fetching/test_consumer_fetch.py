"""Fetches of consumers that wait."""

from __future__ import annotations

from ottla.broker.network.handling import RequestContext
from ottla.broker.network.pending import Pending
from ottla.model import ErrorCode
from ottla.simulation.disk.disk_faults import Operation
from ottla.wire.apis import ApiKey
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from tests.support.nodes.one_node import LISTENER, OneNode
from tests.support.storage.batches import batch_of

# More than a segment remembers the places of, so that the first ones are looked for in its file.
_BATCHES = 200


def waiting(node: OneNode, *, min_bytes: int) -> Pending:
    partition = FetchPartition(partition=0, partition_max_bytes=1 << 20)
    fetch = FetchRequest(
        max_wait_ms=10_000,
        min_bytes=min_bytes,
        max_bytes=1 << 20,
        topics=[FetchTopic(topic="t", partitions=[partition])],
    )
    context = RequestContext(12, "test", "127.0.0.1", LISTENER)
    pending = node.broker.apis[ApiKey.FETCH].handler(context, fetch)
    assert isinstance(pending, Pending)
    assert pending.response is None
    return pending


def test_a_disk_that_fails_under_waiting_fetches_answers_each_of_them_once(node: OneNode) -> None:
    node.create_topic("t")
    node.append("t", *(batch_of(b"v") for _ in range(_BATCHES)))
    size = node.log("t").segments.active.size
    fetches = [waiting(node, min_bytes=size + 1) for _ in range(2)]
    node.disk.faults.fail("/data/t-0", Operation.READ)

    node.append("t", batch_of(b"v"))

    for each in fetches:
        assert isinstance(each.response, FetchResponse)
        (data,) = each.response.responses[0].partitions
        assert data.error_code == ErrorCode.KAFKA_STORAGE_ERROR
