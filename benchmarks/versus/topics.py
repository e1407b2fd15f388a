"""The topics that loads go to: alike on both sides, and gone when their round is over."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator

from benchmarks.versus.servers import Server
from benchmarks.versus.wire_client import create_topics, delete_topic

PARTITIONS = 3
_numbers = itertools.count()


@contextlib.contextmanager
def topic(server: Server) -> Iterator[str]:
    name = f"load-{next(_numbers)}"
    create_topics(server.address, [name], partitions=PARTITIONS)
    try:
        yield name
    finally:
        delete_topic(server.address, name)
