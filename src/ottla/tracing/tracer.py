"""Starts and ends spans, and keeps those that are not exported yet: a bounded number.

A trace is recorded if the one who began it says so; of traces that begin here, a fraction. Spans of
other traces are not kept, but their contexts are passed on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from threading import Event
from typing import Final

from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.tracing.span import SpanKind, TraceSpan
from ottla.tracing.trace_context import TraceContext

_SPANS_MAX: Final = 8_192
# So many are worth a request at once.
_BATCH: Final = 512
_NS: Final = 1_000_000_000
_NS_PER_MS: Final = 1_000_000
_TRACE_ID_BITS: Final = 128
_SPAN_ID_BITS: Final = 64


class Tracer:
    """Any thread may use it. `wanted` is set when a batch of spans has ended."""

    def __init__(self, clock: Clock, dice: Dice, *, sample_ratio: float = 1.0) -> None:
        self._clock = clock
        self._dice = dice
        self._sample_ratio = sample_ratio
        self._ended: deque[TraceSpan] = deque()
        self._offset_ns = 0
        self.wanted = Event()
        # Spans since the start that were not kept, because too many waited.
        self.dropped = 0
        self._anchor()

    def start(
        self,
        name: str,
        kind: SpanKind,
        parent: TraceContext | None,
        attributes: Mapping[str, str | int],
    ) -> TraceSpan:
        """`end` has to follow."""
        span_id = self._id(_SPAN_ID_BITS)
        if parent is None:
            is_sampled = self._sample_ratio >= 1 or self._dice.chance(self._sample_ratio)
            context = TraceContext(self._id(_TRACE_ID_BITS), span_id, int(is_sampled))
            return TraceSpan(name, kind, context, "", self._now_ns(), attributes=dict(attributes))
        context = parent._replace(span_id=span_id)
        return TraceSpan(
            name, kind, context, parent.span_id, self._now_ns(), attributes=dict(attributes)
        )

    def end(
        self, span: TraceSpan, error: str | None = None, *, ended_ns: int | None = None
    ) -> None:
        """`ended_ns` is for steps that have ended before."""
        if not span.context.is_sampled:
            return
        ended_ns = self._now_ns() if ended_ns is None else ended_ns
        span.ended_ns = max(ended_ns, span.started_ns)
        span.error = error
        if len(self._ended) >= _SPANS_MAX:
            self.dropped += 1
            return
        self._ended.append(span)
        if len(self._ended) >= _BATCH:
            self.wanted.set()

    def take(self) -> list[TraceSpan]:
        """A batch of spans that have ended, the oldest first. Any thread may call it."""
        self.wanted.clear()
        taken = [self._ended.popleft() for _ in range(min(_BATCH, len(self._ended)))]
        if not taken:
            self._anchor()
        return taken

    def give_back(self, spans: Sequence[TraceSpan]) -> None:
        """Spans that could not be exported; the next `take` begins with them."""
        room = _SPANS_MAX - len(self._ended)
        self.dropped += max(len(spans) - room, 0)
        self._ended.extendleft(reversed(spans[-room:] if room > 0 else ()))

    def _anchor(self) -> None:
        """The wall clock has milliseconds; steps within one need more, and may not go back."""
        monotonic_ns = int(self._clock.monotonic() * _NS)
        offset_ns = self._clock.now_ms() * _NS_PER_MS - monotonic_ns
        if abs(offset_ns - self._offset_ns) > _NS_PER_MS:
            self._offset_ns = offset_ns

    def _now_ns(self) -> int:
        return int(self._clock.monotonic() * _NS) + self._offset_ns

    def _id(self, bits: int) -> str:
        """Any number but 0, in hexadecimal."""
        return f"{1 + self._dice.below((1 << bits) - 1):0{bits // 4}x}"
