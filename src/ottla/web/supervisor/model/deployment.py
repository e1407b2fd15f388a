"""What is deployed, and where it runs: the values of the supervisors' topic, as JSON.

| key | value |
|---|---|
| `pipeline/NAME` | the deployment; null: it was removed |
| `run/NAME` | its last run |
| `history/NAME` | its last events |
| `owner/PARTITION` | the supervisor that owns the pipelines of this partition |

All keys of a pipeline are in one partition, which only its owner writes.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgspec

from ottla.web.supervisor.model.lifecycle import PipelineState, PipelineTarget
from ottla.wire.records.murmur2 import murmur2

EVENTS_MAX: Final = 50
T = TypeVar("T")


class QueryShape(msgspec.Struct, frozen=True):
    """What of a query has to stay as it is for its checkpoint: see `checkpoint_rules.py`."""

    name: str
    sink: str
    mode: str
    sources: tuple[str, ...] = ()
    # The stateful operators, in order.
    state: tuple[str, ...] = ()


class Deployment(msgspec.Struct, frozen=True):
    """`digest` is that of the definition's file, `checkpoint` the number of its directory."""

    name: str
    config: dict[str, str]
    digest: str
    version: int
    target: PipelineTarget
    checkpoint: int = 1
    shape: tuple[QueryShape, ...] = ()
    # Increases with each request to restart.
    restarts: int = 0


class PipelineRun(msgspec.Struct, frozen=True):
    """`generation` is that of the group in which the owner got the pipeline."""

    epoch: int
    generation: int
    worker: str
    host: str
    started_ms: int
    is_open: bool
    state: PipelineState
    reason: str = ""
    failures: int = 0


class PipelineEvent(msgspec.Struct, frozen=True):
    at_ms: int
    event: str
    detail: str = ""


class ShardOwner(msgspec.Struct, frozen=True):
    """`claim` is new each time that a supervisor takes the partition over."""

    worker: str
    scheme: str
    host: str
    port: int
    claim: str
    generation: int


def partition_of(name: str, count: int) -> int:
    return (murmur2(name.encode()) & 0x7FFFFFFF) % count


def encode(value: msgspec.Struct | list[PipelineEvent]) -> bytes:
    return msgspec.json.encode(value)


def decode(data: bytes, kind: type[T]) -> T:
    """Raises msgspec.DecodeError."""
    found: Any = msgspec.json.decode(data, type=kind)
    return found  # type: ignore[no-any-return]
