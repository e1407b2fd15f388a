"""Which trace a request or a message belongs to: the headers of W3C's Trace Context.

`traceparent` has the ids of the trace and of the span that sent it, `tracestate` what the tracing
systems on the way want to know. Both are names of HTTP headers and of message headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

TRACE_PARENT: Final = "traceparent"
TRACE_STATE: Final = "tracestate"
_PARENT: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_STATE: Final = re.compile(r"[\x20-\x7e]*")
_PARENT_LENGTH_MAX: Final = 256
# Systems on the way have to pass on at least this much.
_STATE_LENGTH_MAX: Final = 512
_SAMPLED: Final = 1


class TraceContext(NamedTuple):
    """The ids in hexadecimal. `flags` are those of version 00: bit 0 says that the trace is
    recorded."""

    trace_id: str
    span_id: str
    flags: int
    state: str = ""

    @classmethod
    def parse(cls, parent: str, state: str = "") -> TraceContext | None:
        """None if `parent` is invalid; the state alone means nothing, and an invalid one is left
        out."""
        found = _PARENT.fullmatch(parent) if len(parent) <= _PARENT_LENGTH_MAX else None
        if found is None:
            return None
        version, trace_id, span_id, flags, more = found.groups()
        if version == "ff" or (version == "00" and more) or not (_is_id(trace_id, span_id)):
            return None
        if len(state) > _STATE_LENGTH_MAX or _STATE.fullmatch(state) is None:
            state = ""
        return cls(trace_id, span_id, int(flags, 16), state.strip())

    @classmethod
    def of_headers(cls, headers: Iterable[tuple[str, bytes | None]]) -> TraceContext | None:
        """Of a message. None if it has none, or an invalid one."""
        parent = state = b""
        for name, value in headers:
            if name == TRACE_PARENT:
                parent = value or b""
            elif name == TRACE_STATE:
                state = value or b""
        return cls.parse(parent.decode("latin-1"), state.decode("latin-1")) if parent else None

    @property
    def is_sampled(self) -> bool:
        return bool(self.flags & _SAMPLED)

    @property
    def parent(self) -> str:
        """The value of `traceparent`."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags:02x}"

    def headers(self) -> tuple[tuple[str, bytes], ...]:
        """Of a message."""
        parent = (TRACE_PARENT, self.parent.encode())
        return (parent, (TRACE_STATE, self.state.encode())) if self.state else (parent,)


def _is_id(trace_id: str, span_id: str) -> bool:
    return trace_id.strip("0") != "" and span_id.strip("0") != ""
