"""Each claim holds for a history in which nothing went wrong, and for no other."""

from collections.abc import Sequence

import pytest

from ottla.model import TopicPartition
from ottla.simulation.claims.claims import violations
from ottla.simulation.history.history import (
    Acknowledged,
    Event,
    Failed,
    Healed,
    History,
    ImageSeen,
    LogRecovered,
    PartitionLed,
    ProducerFailed,
    QuorumLeaderSeen,
    Read,
    ReaderLost,
    ReplicaHas,
    Sent,
    WatermarkSeen,
)

P = TopicPartition("p", 0)
SOUND = (
    Sent("producer", P, b"a"),
    Sent("producer", P, b"b"),
    Acknowledged("producer", P, b"a", 0),
    Acknowledged("producer", P, b"b", 1),
    Read("consumer", P, 0, b"a"),
    Read("consumer", P, 1, b"b"),
    WatermarkSeen("consumer", P, 1, 0, 1),
    WatermarkSeen("consumer", P, 1, 0, 2),
    WatermarkSeen("consumer", P, 2, 1, 1),
    QuorumLeaderSeen("node-1", 1, 1),
    QuorumLeaderSeen("node-2", 1, 1),
    PartitionLed("node-1", P, "id", 1, 0),
    PartitionLed("node-2", P, "another id", 2, 0),
    ImageSeen("node-1", 7, "same"),
    ImageSeen("node-2", 7, "same"),
    Healed("world"),
    LogRecovered("world", 1.0),
    ReplicaHas("node-1", P, ((0, 0, b"a"), (1, 0, b"b"))),
    ReplicaHas("node-2", P, ((0, 0, b"a"), (1, 0, b"b"))),
)


def claims_violated(events: Sequence[Event]) -> set[str]:
    history = History()
    for at, event in enumerate(events):
        history.add(float(at), event)
    return {violation.claim for violation in violations(history)}


def test_a_sound_history_violates_nothing() -> None:
    assert claims_violated(SOUND) == set()


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("NoAcknowledgedWriteLost", Acknowledged("producer", P, b"c", 2)),
        ("NoAcknowledgedWriteLost", Acknowledged("producer", P, b"a", 1)),
        ("EachRecordOnceAtOneOffset", ReplicaHas("node-3", P, ((0, 0, b"a"), (1, 1, b"b")))),
        (
            "IdempotentProducersNeverDuplicate",
            ReplicaHas("node-2", P, ((0, 0, b"a"), (1, 0, b"b"), (2, 0, b"b"))),
        ),
        (
            "IdempotentProducersNeverDuplicate",
            ProducerFailed("producer", P, 3, "OUT_OF_ORDER_SEQUENCE_NUMBER"),
        ),
        ("OnlyWhatWasSentIsThere", ReplicaHas("node-3", P, ((0, 0, b"x"),))),
        ("OnlyWhatWasSentIsThere", ReplicaHas("node-3", P, ((0, 0, b"b"), (1, 0, b"a")))),
        ("SingleLeaderPerEpoch", QuorumLeaderSeen("node-3", 3, 1)),
        ("SingleLeaderPerEpoch", PartitionLed("node-3", P, "id", 3, 0)),
        ("MonotonicHighWatermark", WatermarkSeen("consumer", P, 1, 0, 1)),
        ("ReadsArePrefix", Read("consumer", P, 2, b"c")),
        ("ReadsArePrefix", Read("consumer", P, 0, b"a")),
        ("ReadsArePrefix", ReaderLost("consumer", P, 2)),
        ("ImagesAgree", ImageSeen("node-3", 7, "different")),
        ("NothingFailsUnexplained", Failed("node-1", "a callback failed")),
    ],
)
def test_what_is_wrong_is_found(claim: str, wrong: Event) -> None:
    assert claim in claims_violated([*SOUND, wrong])


def test_a_cluster_that_does_not_recover_is_found() -> None:
    events = [event for event in SOUND if not isinstance(event, LogRecovered)]
    assert claims_violated(events) == {"AvailableAgainAfterHealing"}
