"""The tests of clients in Go, of quotas and share groups, pass on a node, as far as tests.allow
lists them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.go_clients.modules import GoTest, allowed, reason_unavailable
from tests.support.nodes.node_process import NodeProcess


@pytest.fixture
def node(tmp_path: Path) -> Iterator[NodeProcess]:
    if reason := reason_unavailable():
        pytest.skip(reason)
    with NodeProcess(tmp_path) as node:
        yield node
        node.assert_no_traceback()


@pytest.mark.parametrize("test", allowed(), ids=str)
def test_passes(test: GoTest, node: NodeProcess, tmp_path: Path) -> None:
    scratch = tmp_path / "go"
    scratch.mkdir()
    test.run(node.bootstrap, scratch)
