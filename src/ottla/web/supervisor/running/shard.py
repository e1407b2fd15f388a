"""All pipelines of one partition, from its assignment until it is revoked or lost.

A shard is claimed before anything runs: opening its writer fences every earlier owner, then the
partition is read to its end, then the claim is written. From then on a heartbeat is committed every
few seconds; each one that succeeds extends the leases of the children from the moment before it was
begun. A writer that fails is opened again. If another owner has claimed the shard in between, the
children are killed and the shard begins from the start.

A shard without pipelines is claimed, so that others know where to send requests, and has no
heartbeats.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from ottla.client.errors import ClientError
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.tasks import Tasks
from ottla.web.supervisor.model.deployment import (
    Deployment,
    PipelineEvent,
    ShardOwner,
    encode,
)
from ottla.web.supervisor.model.lifecycle import LEASE_S, TAKEOVER_S
from ottla.web.supervisor.running.child import Children
from ottla.web.supervisor.running.owned_pipeline import OwnedPipeline
from ottla.web.supervisor.storing.pipeline_topic import PipelineTopic
from ottla.web.supervisor.storing.shard_writer import ShardWriter

_log = logging.getLogger(__name__)

_HEARTBEAT_S: Final = LEASE_S / 4
_PAUSE_S: Final = 0.5
_RELEASE_S: Final = 60.0


class NotOwnerError(ClientError):
    """This supervisor does not own the shard, or not yet."""


class PipelineShard:
    """Owned by the event loop, from `start` to `release` or `abandon`."""

    def __init__(
        self,
        partition: int,
        owner: ShardOwner,
        topic: PipelineTopic,
        make_writer: Callable[[int], ShardWriter],
        children: Children,
        clock: Clock,
        dice: Dice,
    ) -> None:
        self.partition = partition
        self.pipelines: dict[str, OwnedPipeline] = {}
        self.worker = owner.worker
        self.host = owner.host
        self.generation = owner.generation
        self.clock = clock
        self.children = children
        self.lease_until = 0.0
        self.is_claimed = False
        self._owner = owner
        self._topic = topic
        self._make_writer = make_writer
        self._dice = dice
        self._writer: ShardWriter | None = None
        self._claim = ""
        self._broken = asyncio.Event()
        self.tasks = Tasks(_failed)
        self._runs: dict[str, asyncio.Task[object]] = {}

    # ---- life cycle

    def start(self) -> None:
        self.tasks.start(f"shard {self.partition}", self._own())

    async def release(self) -> None:
        """Ends all children in order, and leaves their pipelines to the next owner."""
        for pipeline in self.pipelines.values():
            pipeline.stop()
        try:
            async with asyncio.timeout(_RELEASE_S):
                for pipeline in self.pipelines.values():
                    await pipeline.wait_ended()
        except TimeoutError:
            await self._kill_all()
        for task in self._runs.values():
            task.cancel()
        left = [
            (f"run/{name}", encode(pipeline.final_run()))
            for name, pipeline in self.pipelines.items()
        ]
        if self._writer is not None and left and self.is_claimed:
            try:
                await self._writer.write(left)
            except ClientError as error:
                _log.warning("shard %d: cannot store that it was closed: %s", self.partition, error)
        await self._close()

    async def abandon(self) -> None:
        """Kills all children: another supervisor may own the shard already."""
        await self._kill_all()
        await self._close()

    async def _close(self) -> None:
        self.is_claimed = False
        await self.tasks.close()
        await self._close_writer()

    # ---- requests

    async def write(self, records: Sequence[tuple[str, bytes | None]]) -> int:
        """Raises ClientError. After an error the writer is opened again."""
        writer = self._writer
        if writer is None or not self.is_claimed:
            raise NotOwnerError(f"shard {self.partition} is not claimed yet")
        try:
            return await writer.write(records)
        except ClientError:
            self._broken.set()
            raise

    async def deploy(self, deployment: Deployment, event: str, detail: str = "") -> None:
        """A new pipeline, or a change of one. Returns when it is written and applied. Raises
        NotOwnerError and ClientError."""
        if not self.is_claimed:
            raise NotOwnerError(f"shard {self.partition} is not claimed yet")
        name = deployment.name
        if not self.pipelines:
            await self._heartbeat()
        pipeline = self.pipelines.get(name)
        if pipeline is None:
            pipeline = OwnedPipeline(deployment, self, run=None, history=(), until=0.0)
        position = await self.write(
            [
                (f"pipeline/{name}", encode(deployment)),
                (f"history/{name}", pipeline.event(event, detail)),
            ]
        )
        if name in self.pipelines:
            pipeline.change(deployment)
        else:
            self._begin(pipeline)
        await self._topic.wait_position(self.partition, position)

    async def remove(self, name: str) -> None:
        """Ends the child first. Raises NotOwnerError and ClientError."""
        pipeline = self.pipelines.get(name)
        if not self.is_claimed or pipeline is None:
            raise NotOwnerError(f"shard {self.partition} is not claimed yet")
        pipeline.stop()
        await pipeline.wait_ended()
        position = await self.write(
            [(f"{kind}/{name}", None) for kind in ("run", "history", "pipeline")]
        )
        self._runs.pop(name).cancel()
        del self.pipelines[name]
        await self._topic.wait_position(self.partition, position)

    # ---- ownership

    async def _own(self) -> None:
        while True:
            try:
                await self._open()
                await self._beat()
            except ClientError as error:
                _log.warning("shard %d: %s; claiming it again", self.partition, error)
            self.is_claimed = False
            await self._close_writer()
            if self.clock.monotonic() >= self.lease_until:
                await self._kill_all()
            await self.clock.sleep(_PAUSE_S)

    async def _open(self) -> None:
        """Raises ClientError."""
        writer = self._make_writer(self.partition)
        try:
            await writer.open()
            # No earlier owner can write any more; what it wrote has to be known.
            fenced_at = self.clock.monotonic()
            await self._topic.catch_up(self.partition)
        except BaseException:
            await writer.close()
            raise
        self._writer = writer
        self._broken.clear()
        found = self._topic.table.owners.get(self.partition)
        if self._claim and found is not None and found.claim == self._claim:
            # No other supervisor has claimed it since.
            await self._heartbeat()
            self.is_claimed = True
            return
        await self._drop()
        self._claim = self._dice.uuid().hex()
        await self._heartbeat()
        self.is_claimed = True
        _log.info("claimed shard %d", self.partition)
        for deployment in list(self._deployments()):
            self._begin(self._taken_over(deployment, fenced_at))

    def _taken_over(self, deployment: Deployment, fenced_at: float) -> OwnedPipeline:
        table = self._topic.table
        run = table.runs.get(deployment.name)
        until = fenced_at + TAKEOVER_S if run is not None and run.is_open else 0.0
        history: Sequence[PipelineEvent] = table.history.get(deployment.name, ())
        return OwnedPipeline(deployment, self, run=run, history=history, until=until)

    def _begin(self, pipeline: OwnedPipeline) -> None:
        name = pipeline.deployment.name
        self.pipelines[name] = pipeline
        self._runs[name] = self.tasks.start(f"pipeline {name}", pipeline.run())

    async def _drop(self) -> None:
        await self._kill_all()
        for task in self._runs.values():
            task.cancel()
        self._runs.clear()
        self.pipelines.clear()

    async def _beat(self) -> None:
        """Returns when the writer is broken. Raises ClientError."""
        while True:
            try:
                async with asyncio.timeout(_HEARTBEAT_S):
                    await self._broken.wait()
                return
            except TimeoutError:
                if self.pipelines:
                    await self._heartbeat()

    async def _heartbeat(self) -> None:
        """Raises ClientError."""
        assert self._writer is not None
        began = self.clock.monotonic()
        owner = ShardOwner(
            worker=self.worker,
            scheme=self._owner.scheme,
            host=self._owner.host,
            port=self._owner.port,
            claim=self._claim,
            generation=self.generation,
        )
        await self._writer.write([(f"owner/{self.partition}", encode(owner))])
        self.lease_until = began + LEASE_S
        for pipeline in self.pipelines.values():
            pipeline.renew(self.lease_until)

    async def _kill_all(self) -> None:
        self.lease_until = 0.0
        for pipeline in self.pipelines.values():
            pipeline.kill()
        for pipeline in self.pipelines.values():
            await pipeline.wait_ended()

    async def _close_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            await writer.close()

    def _deployments(self) -> Sequence[Deployment]:
        table = self._topic.table
        return list(table.of_partition(self.partition, self._topic.partitions))


def _failed(name: str, error: BaseException) -> None:
    _log.error("%s failed", name, exc_info=error)
