"""Starts, watches and stops queries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ottla.pipeline.running.failures import Failure, explain, is_passing
from ottla.pipeline.running.graph import Query
from ottla.pipeline.running.progress import QueryProgress, to_progress

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

RESTARTS_MAX: Final = 5


class RunningQueries:
    """The constructor starts the queries and `stop` stops them. With `once` they also end by
    themselves."""

    def __init__(self, queries: Sequence[Query], *, checkpoints: Path, once: bool) -> None:
        self._checkpoints = checkpoints
        self._once = once
        self._queries = {query.name: query for query in queries}
        self._restarts = dict.fromkeys(self._queries, RESTARTS_MAX)
        self._running: dict[str, StreamingQuery] = {}
        self._reported_batches: dict[str, int] = {}
        try:
            for name in self._queries:
                self._start(name)
        except BaseException:
            self.stop()
            raise

    def _start(self, name: str) -> None:
        self._running[name] = _start(self._queries[name], self._checkpoints / name, once=self._once)

    @property
    def is_active(self) -> bool:
        return any(query.isActive for query in self._running.values())

    def progress(self) -> list[QueryProgress]:
        """The new progress since the last call; of each query, oldest first."""
        found = []
        for name, query in self._running.items():
            for each in query.recentProgress:
                progress = to_progress(name, each.json)
                if progress.batch_id > self._reported_batches.get(name, -1):
                    self._reported_batches[name] = progress.batch_id
                    found.append(progress)
        return found

    def failure(self) -> Failure | None:
        """The failure of the first query that failed. After a temporary failure the query is
        restarted instead, up to `RESTARTS_MAX` times."""
        for name, query in list(self._running.items()):
            if query.isActive or (error := query.exception()) is None:
                continue
            text = f"{error}\n{_stack(error)}"
            if not is_passing(text) or not self._restarts[name]:
                place = self._queries[name].sink.place
                return explain(name, text, self._checkpoints / name, place=place)
            self._restarts[name] -= 1
            self._start(name)
        return None

    def stop(self) -> None:
        """Stops all queries. A running batch is aborted, and repeated by the next start. Raises
        Spark's error for a query that does not stop in time."""
        for query in self._running.values():
            query.stop()


def _start(query: Query, checkpoint: Path, *, once: bool) -> StreamingQuery:
    writer = query.sink.write(query.frame, query.name, query.around)
    writer = writer.queryName(query.name).outputMode(query.mode)
    writer = writer.option("checkpointLocation", str(checkpoint))
    if once:
        writer = writer.trigger(availableNow=True)
    elif query.every is not None:
        writer = writer.trigger(processingTime=query.every)
    return writer.start()


def _stack(error: Exception) -> str:
    origin = getattr(error, "_origin", None) or getattr(error, "_cause", None)
    return "" if origin is None else str(origin)
