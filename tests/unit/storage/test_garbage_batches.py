"""Logs with batches whose checksums are right and whose records are none."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.batches.leader_batch import Origin
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.wire.records.batch import DECOMPRESSED_BYTES_MAX, iterate_batches
from ottla.wire.records.compression import Codec, compress
from tests.support.storage.batches import (
    GARBAGE_BODIES,
    batch_around,
    batch_of,
    compressed_around,
    raw_record,
)
from tests.support.storage.compactions import commit_all, compacted, roll_and_commit
from tests.support.storage.log_checks import all_batches
from tests.support.storage.logs import NOW_MS, append, end_transaction, new_log, opened

# Whatever is wrong with the values and the headers of records does not keep them from being
# compacted: they stay or go as they are.
READABLE_FOR_COMPACTION = (
    "a value beyond the record",
    "a negative number of headers",
    "more headers than bytes",
    "a header without a key",
    "a header beyond the record",
    "bytes behind a record's headers",
    "an offset twice",
)


def compacted_log(**config: Any) -> Log:
    return new_log(compact=True, delete=False, min_cleanable_dirty_ratio=0.0, **config)


def plant(log: Log, batch: bytearray) -> bytes:
    """Has a batch in the log that it would refuse, and returns it as it is there."""
    log.append_as_leader(batch, leader_epoch=0, now_ms=NOW_MS, origin=Origin.COORDINATOR)
    return bytes(all_batches(log)[-1].data)


def undecompressable(codec: Codec) -> bytearray:
    whole = compress(codec, raw_record() * 100)
    return batch_around(whole[: len(whole) // 2], codec=codec, count=100)


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("name", [*GARBAGE_BODIES, "cut off"])
def test_compaction_keeps_a_garbage_batch_and_compacts_the_rest(name: str, codec: Codec) -> None:
    log = compacted_log()
    for number in range(10):
        append(log, batch_of(b"old %d" % number, key=b"key"))
    if name == "cut off":
        batch = undecompressable(codec)
    else:
        batch = compressed_around(GARBAGE_BODIES[name][0], codec=codec, count=2)
    garbage = plant(log, batch)
    offset = log.log_end_offset
    append(log, batch_of(b"new", key=b"key"))
    roll_and_commit(log)

    result = compacted(log)

    assert [each.header.base_offset for each in all_batches(log)] == [10, offset]
    if name in READABLE_FOR_COMPACTION:
        assert result.unreadable_count == 0
    else:
        assert bytes(all_batches(log)[0].data) == garbage
        assert result.unreadable_count == 1
        (found,) = result.unreadable
        assert (found.base_offset, found.last_offset) == (10, offset - 1)
        assert found.reason


def test_the_keys_of_a_garbage_batch_replace_nothing() -> None:
    log = compacted_log()
    append(log, batch_of(b"kept", key=b"k"))
    plant(log, batch_around(raw_record(key=b"k") + b"garbage", count=2))
    append(log, batch_of(b"other", key=b"other"))
    roll_and_commit(log)

    compacted(log)

    assert [each.header.base_offset for each in all_batches(log)] == [0, 1, 3]


def test_a_garbage_batch_that_overfills_the_offset_map_replaces_nothing() -> None:
    log = compacted_log()
    append(log, batch_of(b"kept", key=b"k0"))
    keys = [b"k%d" % number for number in range(4)]
    body = b"".join(raw_record(offset=n, key=key) for n, key in enumerate(keys))
    plant(log, batch_around(body + b"garbage", count=5))
    roll_and_commit(log)

    result = compacted(log, memory_bytes=3 * 218)

    assert [each.header.base_offset for each in all_batches(log)] == [0, 1]
    assert result.unreadable_count == 1


def test_a_garbage_batch_of_an_aborted_transaction_goes_as_any_other() -> None:
    log = compacted_log()
    append(log, batch_of(b"v", key=b"k"))
    plant(
        log,
        batch_around(b"garbage", producer_id=7, sequence=0, is_transactional=True),
    )
    end_transaction(log, producer_id=7, commit=False)
    append(log, batch_of(b"w", key=b"l"))
    roll_and_commit(log)

    result = compacted(log)

    assert result.unreadable_count == 0
    kept = [each.header for each in all_batches(log) if not each.header.is_control]
    assert [each.base_offset for each in kept if each.record_count] == [0, 3]


def test_the_first_unreadable_batches_are_named_and_all_are_counted() -> None:
    log = compacted_log()
    for _ in range(25):
        plant(log, batch_around(b"garbage"))
    roll_and_commit(log)

    result = pickle.loads(pickle.dumps(compacted(log)))

    assert result.unreadable_count == 25
    assert len(result.unreadable) == 10
    assert str(result.unreadable[0]).startswith("offsets 0 to 0: ")


@pytest.mark.parametrize("codec", Codec)
def test_producers_are_recovered_from_headers_alone(codec: Codec) -> None:
    disk = SimulatedDisk()
    log = new_log(disk)
    for sequence in range(3):
        plant(
            log,
            batch_around(b"garbage", codec=codec, producer_id=7, sequence=sequence),
        )
    plant(
        log,
        batch_around(b"junk", codec=codec, producer_id=8, sequence=0, is_transactional=True),
    )
    end_transaction(log, producer_id=8, commit=False)
    plant(
        log,
        batch_around(b"junk", codec=codec, producer_id=9, sequence=0, is_transactional=True),
    )
    commit_all(log)
    before = {each.producer_id: each.last_sequence for each in entries(log)}
    log.flush()

    disk.kill()
    again = opened(disk, LogConfig())

    assert {each.producer_id: each.last_sequence for each in entries(again)} == before
    assert before[7] == 2
    assert again.producers.state.first_undecided_offset == 5
    assert [
        each.producer_id
        for each in again.aborted_transactions(fetch_offset=0, upper_bound_offset=6)
    ] == [8]


def entries(log: Log) -> list[Any]:
    return list(log.producers.state.entries.values())


def test_a_follower_takes_over_garbage_as_its_leader_has_it() -> None:
    leader = new_log()
    garbage = plant(leader, batch_around(b"garbage", producer_id=7, sequence=0))
    follower = new_log()

    follower.append_as_follower(garbage, leader_epoch=0, now_ms=NOW_MS)

    assert bytes(all_batches(follower)[0].data) == garbage
    assert [header.producer_id for _, header in iterate_batches(garbage)] == [7]
    assert [each.producer_id for each in entries(follower)] == [7]


def test_compaction_keeps_a_bomb_and_compacts_the_rest() -> None:
    log = compacted_log()
    append(log, batch_of(b"old", key=b"key"))
    body = compress(Codec.ZSTD, bytes(DECOMPRESSED_BYTES_MAX + 1))
    bomb = plant(log, batch_around(body, codec=Codec.ZSTD))
    append(log, batch_of(b"new", key=b"key"))
    roll_and_commit(log)

    result = compacted(log)

    assert [each.header.base_offset for each in all_batches(log)] == [1, 2]
    assert bytes(all_batches(log)[0].data) == bomb
    (found,) = result.unreadable
    assert "more than the 268435456 bytes" in found.reason
