"""What a node says of a disk that is full."""

from __future__ import annotations

import errno

import pytest

from tests.support.nodes.one_node import OneNode


def test_a_full_disk_is_logged_at_intervals_and_not_for_each_request(
    node: OneNode, caplog: pytest.LogCaptureFixture
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    for _ in range(3):
        failure = node.broker.failures.directory_failed("/data", full)
        assert "is full" in (failure.message or "")
    assert [record.getMessage() for record in caplog.records] == [failure.message]

    node.clock.advance(31)
    node.broker.failures.directory_failed("/data", full)

    assert [record.getMessage() for record in caplog.records] == [failure.message] * 2
