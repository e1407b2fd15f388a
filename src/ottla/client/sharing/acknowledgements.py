"""Acknowledgements that wait to be sent: ranges of offsets, and the batches of a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from ottla.shares.record_state import AcknowledgeType
from ottla.shares.retry_delay import put_delay
from ottla.wire.messages import share_acknowledge as ack_wire
from ottla.wire.messages import share_fetch as fetch_wire

_B = TypeVar("_B", ack_wire.AcknowledgementBatch, fetch_wire.AcknowledgementBatch)


class AckRun(NamedTuple):
    """Offsets with one acknowledgement. `delay_ms`: of released records, before they are delivered
    again; None for the group's own delay."""

    first: int
    last: int
    kind: AcknowledgeType
    delay_ms: int | None = None

    @property
    def size(self) -> int:
        return self.last - self.first + 1


class AckBatch(NamedTuple):
    """Consecutive offsets as a request has them: one type for all, or one for each."""

    first: int
    last: int
    types: list[int]
    delay_ms: int | None


class AckRuns:
    """The acknowledgements of one partition. `number` is that of the oldest one."""

    __slots__ = ("number", "runs")

    def __init__(self, number: int) -> None:
        self.number = number
        self.runs: list[AckRun] = []

    def add(self, run: AckRun) -> None:
        runs = self.runs
        if runs:
            last = runs[-1]
            if last.last + 1 == run.first and last[2:] == run[2:]:
                runs[-1] = last._replace(last=run.last)
                return
        runs.append(run)

    @property
    def count(self) -> int:
        return sum(run.size for run in self.runs)

    def offsets(self) -> tuple[int, ...]:
        return tuple(
            offset for run in sorted(self.runs) for offset in range(run.first, run.last + 1)
        )

    def batches(self) -> list[AckBatch]:
        return [_batch(group) for group in _groups(sorted(self.runs))]


def _groups(runs: Iterable[AckRun]) -> Iterator[list[AckRun]]:
    """Runs that follow each other and have one delay."""
    group: list[AckRun] = []
    for run in runs:
        if group and (group[-1].last + 1, group[-1].delay_ms) != (run.first, run.delay_ms):
            yield group
            group = []
        group.append(run)
    if group:
        yield group


def _batch(group: Sequence[AckRun]) -> AckBatch:
    kinds = {run.kind for run in group}
    if len(kinds) == 1:
        types = [int(kind) for kind in kinds]
    else:
        types = [int(run.kind) for run in group for _ in range(run.size)]
    return AckBatch(group[0].first, group[-1].last, types, group[0].delay_ms)


def fetch_batches(runs: AckRuns) -> list[fetch_wire.AcknowledgementBatch]:
    return [_put(fetch_wire.AcknowledgementBatch(), each) for each in runs.batches()]


def acknowledge_batches(runs: AckRuns) -> list[ack_wire.AcknowledgementBatch]:
    return [_put(ack_wire.AcknowledgementBatch(), each) for each in runs.batches()]


def _put(message: _B, batch: AckBatch) -> _B:
    message.first_offset, message.last_offset = batch.first, batch.last
    message.acknowledge_types = batch.types
    if batch.delay_ms is not None:
        put_delay(message, batch.delay_ms)
    return message
