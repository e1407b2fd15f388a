"""Nodes for the tests that ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.nodes.one_node import OneNode, StartNode


@pytest.fixture
def start_node() -> Iterator[StartNode]:
    """Starts nodes, with OneNode's arguments, and ends them with the test."""
    started: list[OneNode] = []

    def start(*arguments: Any, **options: Any) -> OneNode:
        started.append(OneNode(*arguments, **options))
        return started[-1]

    yield start
    for node in started:
        node.abandon()


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    return start_node()
