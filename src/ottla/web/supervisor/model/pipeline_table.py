"""The supervisors' topic, applied record by record. Every supervisor has all of it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import msgspec

from ottla.web.supervisor.model.deployment import (
    Deployment,
    PipelineEvent,
    PipelineRun,
    ShardOwner,
    decode,
    partition_of,
)

_log = logging.getLogger(__name__)


class PipelineTable:
    def __init__(self) -> None:
        self.deployments: dict[str, Deployment] = {}
        self.runs: dict[str, PipelineRun] = {}
        self.history: dict[str, list[PipelineEvent]] = {}
        self.owners: dict[int, ShardOwner] = {}

    def apply(self, key: bytes | None, value: bytes | None) -> None:
        """Records that cannot be read are skipped, and logged."""
        try:
            self._apply((key or b"").decode(), value)
        except (msgspec.DecodeError, ValueError) as error:
            _log.warning("skipped a record of the topic with the key %r: %s", key, error)

    def _apply(self, key: str, value: bytes | None) -> None:
        kind, _, name = key.partition("/")
        if kind == "pipeline":
            if value is None:
                for table in (self.deployments, self.runs, self.history):
                    table.pop(name, None)
            else:
                self.deployments[name] = decode(value, Deployment)
        elif kind == "run" and value is not None:
            self.runs[name] = decode(value, PipelineRun)
        elif kind == "history" and value is not None:
            self.history[name] = decode(value, list[PipelineEvent])
        elif kind == "owner" and value is not None:
            self.owners[int(name)] = decode(value, ShardOwner)

    def of_partition(self, partition: int, count: int) -> Iterator[Deployment]:
        for name, deployment in self.deployments.items():
            if partition_of(name, count) == partition:
                yield deployment
