"""What became of acknowledgements: for the callback of the application, and for its commits."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque

from ottla.client.administration.results import Results
from ottla.client.errors import ClientError
from ottla.client.sharing.acknowledgements import AckRuns
from ottla.client.sharing.metrics import ShareConsumerMetrics
from ottla.client.sharing.records import AcknowledgementCallback, AcknowledgementOutcome
from ottla.model import TopicPartition


class CommitOutcomes:
    """What one commit has seen so far."""

    def __init__(self) -> None:
        self._outcomes: dict[TopicPartition, int | ClientError] = {}

    def add(self, name: TopicPartition, count: int, error: ClientError | None) -> None:
        before = self._outcomes.get(name, 0)
        if not isinstance(before, ClientError):
            self._outcomes[name] = before + count if error is None else error

    def results(self) -> Results[TopicPartition, int]:
        return Results(self._outcomes)


class AcknowledgementOutcomes:
    """Belongs to a share consumer."""

    def __init__(self, metrics: ShareConsumerMetrics) -> None:
        self.callback: AcknowledgementCallback | None = None
        self._metrics = metrics
        self._commits: list[CommitOutcomes] = []
        # Acknowledgements that were refused without a request: the next commit reports them.
        self._refused: dict[TopicPartition, ClientError] = {}
        self._waiting: deque[AcknowledgementOutcome] = deque()
        self._changed: asyncio.Future[None] | None = None

    def add(self, name: TopicPartition, runs: AckRuns, error: ClientError | None) -> None:
        counted = "acknowledgements-failed-total" if error else "acknowledgements-total"
        self._metrics.count(counted, runs.count)
        for commit in self._commits:
            commit.add(name, runs.count, error)
        if self.callback is not None:
            self._waiting.append(AcknowledgementOutcome(name, runs.offsets(), error))
        self.wake()

    def refuse(self, name: TopicPartition, runs: AckRuns, error: ClientError) -> None:
        """This member does not hold the records."""
        self.add(name, runs, error)
        if not self._commits:
            self._refused[name] = error

    def wake(self) -> None:
        """Something has changed that commits may wait for."""
        changed, self._changed = self._changed, None
        if changed is not None and not changed.done():
            changed.set_result(None)

    async def wait_change(self) -> None:
        if self._changed is None:
            self._changed = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._changed)

    def begin_commit(self) -> CommitOutcomes:
        commit = CommitOutcomes()
        for name, error in self._refused.items():
            commit.add(name, 0, error)
        self._refused.clear()
        self._commits.append(commit)
        return commit

    def end_commit(self, commit: CommitOutcomes) -> None:
        self._commits.remove(commit)

    async def run_callbacks(self) -> None:
        """In the application's own call."""
        while self._waiting:
            outcome = self._waiting.popleft()
            if self.callback is not None:
                result = self.callback(outcome)
                if inspect.isawaitable(result):
                    await result
