"""A node for each test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.one_node import OneNode


@pytest.fixture
def node() -> Iterator[OneNode]:
    node = OneNode()
    yield node
    node.abandon()
