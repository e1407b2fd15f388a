"""The properties of queries that write in two phases, which every history must have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from ottla.model import TopicPartition
from ottla.simulation.claims.transaction_fates import COMMITTED, ends_of
from ottla.simulation.clients.two_phase_client import all_rows_of
from ottla.simulation.history.history import Healed, History
from ottla.simulation.history.two_phase_events import (
    BatchCommitted,
    DecisionRead,
    DecisionSending,
    DecisionWritten,
    DriverBegan,
    DriverBeginning,
    OutputHas,
)


class EachBatchIsWrittenOnce:
    """Each row of a committed batch is committed once, in the order of the batches; nothing is
    committed of batches that were not decided."""

    def check(self, history: History) -> Iterator[str]:
        if not any(history.of(OutputHas)):
            return
        decided = _decided(history)
        found: Counter[str] = Counter()
        for partition, rows in _committed(history).items():
            last: dict[str, int] = {}
            for row in rows:
                query, batch_id = _batch_of(row)
                if batch_id < last.get(query, -1):
                    yield f"{row} is in {partition} after batch {last[query]} of {query}"
                last[query] = max(batch_id, last.get(query, -1))
                if batch_id not in decided.get(query, ()):
                    yield f"{row} is committed in {partition}, and no decision about its batch"
            found.update(rows)
        for row, count in found.items():
            if count > 1:
                yield f"{row} is committed {count} times"
        if any(history.of(Healed)):
            for query, batch_id in _reported(history):
                for row in all_rows_of(query, batch_id):
                    if row not in found:
                        yield f"{query} has committed batch {batch_id}, but not {row}"


class NoDecidedBatchIsLost:
    """What a driver has decided, later drivers know; and after healing, all rows of a decided batch
    are committed."""

    def check(self, history: History) -> Iterator[str]:
        for read in history.of(DecisionRead):
            if read.batch_id < read.floor:
                yield (
                    f"{read.who} read that {read.query} has decided batch {read.batch_id} last, "
                    f"after batch {read.floor} was decided"
                )
        if not any(history.of(Healed)) or not any(history.of(OutputHas)):
            return
        found = {row for rows in _committed(history).values() for row in rows}
        for query, batches in _decided(history).items():
            for batch_id in sorted(batches):
                missing = [row for row in all_rows_of(query, batch_id) if row not in found]
                if missing:
                    yield f"batch {batch_id} of {query} was decided, but {missing} is not committed"


class NoZombieDriverCommits:
    """Once another driver of a query has begun, the decisions of its predecessors are refused."""

    def check(self, history: History) -> Iterator[str]:
        asked: dict[tuple[str, int], int] = {}
        began: dict[tuple[str, int], int] = {}
        sending: dict[tuple[str, int], int] = {}
        for at, (_, event) in enumerate(history.events):
            match event:
                case DriverBeginning():
                    asked[event.query, event.number] = at
                case DriverBegan():
                    began[event.query, event.number] = at
                case DecisionSending():
                    sending[event.query, event.number] = at
                case DecisionWritten():
                    key = event.query, event.number
                    successor = next(
                        (
                            number
                            for (query, number), begun_at in began.items()
                            if query == event.query
                            and asked[query, number] > began.get(key, at)
                            and begun_at < sending[key]
                        ),
                        None,
                    )
                    if successor is not None:
                        yield (
                            f"{event.who} decided batch {event.batch_id} of {event.query} as "
                            f"driver {event.number}, after driver {successor} had begun"
                        )


def _committed(history: History) -> dict[TopicPartition, list[str]]:
    """The committed rows of each partition in order, from the first replica that was recorded."""
    found: dict[TopicPartition, list[str]] = {}
    for output in history.of(OutputHas):
        if output.partition not in found:
            ends = ends_of(output.rows)
            found[output.partition] = [
                row.value.partition(b"|")[2].decode()
                for row in output.rows
                if not row.marker and ends[row.offset] == COMMITTED
            ]
    return found


def _decided(history: History) -> dict[str, set[int]]:
    """The batches of each query that were decided for sure, or may have been."""
    found: dict[str, set[int]] = defaultdict(set)
    for written in history.of(DecisionWritten):
        found[written.query].add(written.batch_id)
    for read in history.of(DecisionRead):
        if read.batch_id >= 0:
            found[read.query].add(read.batch_id)
    return found


def _reported(history: History) -> list[tuple[str, int]]:
    return sorted({(each.query, each.batch_id) for each in history.of(BatchCommitted)})


def _batch_of(row: str) -> tuple[str, int]:
    query, batch_id, _ = row.split(":", 2)
    return query, int(batch_id)


TWO_PHASE_CLAIMS = (EachBatchIsWrittenOnce(), NoDecidedBatchIsLost(), NoZombieDriverCommits())
