"""What every attack on a node leaves behind: others are served, soon and as before, the memory is
bounded, and the logs contain nothing that was sent."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ottla.wire.messages.metadata import MetadataRequest
from tests.support.nodes.wire_connection import WireConnection
from tests.support.security.attacked_node import PASSWORD, TOPIC, AttackedNode
from tests.support.security.revealing_lines import assert_reveals_nothing
from tests.support.security.sasl_wire import log_in_plainly

_SECONDS_MAX: Final = 5.0
_KEPT_BYTES_MAX: Final = 64 << 20


@contextmanager
def under_attack(
    scratch: Path, settings: Mapping[str, str] | None = None, *, secrets: Sequence[str] = ()
) -> Iterator[AttackedNode]:
    """A node with its users. `secrets` must be in none of its logs in the end."""
    with AttackedNode(scratch, settings) as node:
        node.prepare()
        before = node.resident_bytes
        yield node
        assert node.resident_bytes - before < _KEPT_BYTES_MAX
    assert_reveals_nothing(node, *secrets)


@contextmanager
def refused_quickly(node: AttackedNode) -> Iterator[None]:
    """Around an attack, after which alice can log in as before."""
    started = time.perf_counter()
    yield
    assert time.perf_counter() - started < _SECONDS_MAX
    with node.connect("CLIENTS") as alice:
        assert log_in_plainly(alice, "alice", PASSWORD).error_code == 0
        assert is_served(alice)


def is_served(connection: WireConnection) -> bool:
    """Whether alice gets what alice may see."""
    response = connection.send_request(MetadataRequest(topics=None), 12)
    return [topic.name for topic in response.topics if not topic.is_internal] == [TOPIC]
