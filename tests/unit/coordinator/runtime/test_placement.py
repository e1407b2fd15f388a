"""All nodes and clients agree on the partition of a group."""

from __future__ import annotations

import pytest

from ottla.coordinator.runtime.placement import java_hash, partition_for


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("group", 98629247),
        ("console-consumer-12345", 158455506),
        ("ä€😀", 16603051),
        # The one whose hash has no positive counterpart.
        ("polygenelubricants", -(2**31)),
    ],
)
def test_the_hash_is_javas(text: str, expected: int) -> None:
    assert java_hash(text) == expected


def test_the_lowest_hash_is_in_the_first_partition() -> None:
    assert partition_for("polygenelubricants", partition_count=50) == 0


def test_a_negative_hash_counts_without_its_sign() -> None:
    hashed = java_hash("negative-hash-group")
    assert partition_for("negative-hash-group", partition_count=50) == abs(hashed) % 50
