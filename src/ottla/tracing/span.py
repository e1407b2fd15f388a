"""One step of a trace, with its time and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

from ottla.tracing.trace_context import TraceContext

Attributes: TypeAlias = dict[str, str | int]


class SpanKind(IntEnum):
    """OTLP's numbers."""

    INTERNAL = 1
    SERVER = 2
    CLIENT = 3
    PRODUCER = 4
    CONSUMER = 5


@dataclass(slots=True)
class TraceSpan:
    """`parent_id` is empty for the first span of a trace. `links` are contexts of other traces: of
    the messages that a batch read. `error` says why the step failed; None if it did not."""

    name: str
    kind: SpanKind
    context: TraceContext
    parent_id: str
    started_ns: int
    ended_ns: int = 0
    attributes: Attributes = field(default_factory=dict)
    links: tuple[TraceContext, ...] = ()
    error: str | None = None
