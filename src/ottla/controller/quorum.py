"""This node's replica of the metadata log: carries out the decisions of consensus (`ottla.raft`).

    an event (request, response, timer, flush) ──▶ Raft ──decisions──▶ disk, image, network

Everything except flushing happens at once and in the order that `ottla.raft` specifies. A worker
flushes; records appended meanwhile wait for the next flush. If the disk fails, the replica stops:
its last records may or may not be on the device, and the next start checks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from ottla.channels import ChannelError
from ottla.controller.committed_metadata import CommittedMetadata
from ottla.controller.fetched_batches import require_sound
from ottla.controller.metadata_log_loading import LoadedMetadata, load_snapshot
from ottla.controller.quorum_seams import Peers, QuorumFollower, Seams
from ottla.controller.quorum_state_file import read_quorum_state, write_quorum_state
from ottla.controller.record_batches import decode_batch
from ottla.controller.snapshot_writing import SnapshotWriting
from ottla.model import Buffer
from ottla.raft import (
    CommittedRecordsLostError,
    ControlRecord,
    Decisions,
    LeaderAndEpoch,
    QuorumDescription,
    Raft,
    RaftConfig,
    ReadLog,
    Reply,
    Send,
    SnapshotChunk,
    VoterSet,
)
from ottla.runtime.clock import Timer
from ottla.runtime.wakeup import Wakeup
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.fetch_snapshot import FetchSnapshotResponse
from ottla.wire.records.batch import iterate_batches
from ottla.wire.schema import Message

_log = logging.getLogger(__name__)

# How long a leader that resigns at shutdown waits for the next election to begin.
_FAREWELL_SECONDS: Final = 0.3

# Called when the leader changed, or this replica became active or failed. Must not block.
LeaderListener: TypeAlias = Callable[[], None]


class _Claim(NamedTuple):
    """Leadership that becomes active once all records below the offset are committed."""

    epoch: int
    offset: int


class MetadataQuorum:
    """Created from the state on disk, started by `start`, ended by `close`. Owned by one event
    loop.

    After `failure` is set it no longer handles any event.
    """

    def __init__(
        self, seams: Seams, loaded: LoadedMetadata, config: RaftConfig, peers: Peers
    ) -> None:
        self.log = loaded.log
        self.metadata: CommittedMetadata = loaded.committed
        self.failure: BaseException | None = None
        self._seams = seams
        self._peers = peers
        self._local_id = config.local.id
        self._follower: QuorumFollower | None = None
        self._claim: _Claim | None = None
        self._is_active = False
        self._replies: dict[int, asyncio.Future[Message]] = {}
        self._timer: Timer | None = None
        self._timer_ms = 0
        self._is_carrying_out = False
        self._flushing: asyncio.Task[object] | None = None
        self._leader_listeners: list[LeaderListener] = []
        self.raft = Raft(
            config,
            self.log,
            seams.dice,
            state=read_quorum_state(seams.disk, self.log.directory),
            control_records=loaded.control_records,
            now_ms=self._now_ms(),
        )
        self._snapshots = SnapshotWriting(seams, self.log, self.metadata, self.raft)

    def start(self, follower: QuorumFollower | None = None) -> None:
        """Starts to participate. Raises an error that occurs immediately."""
        self._follower = follower
        self._carry_out()
        if self.failure is not None:
            raise self.failure

    def listen_leader(self, listener: LeaderListener) -> None:
        """Registers a listener that is called when the active controller may have changed."""
        self._leader_listeners.append(listener)

    # ---- facts

    @property
    def is_leader(self) -> bool:
        return self.raft.is_leader

    @property
    def is_active(self) -> bool:
        """Whether this replica leads and has applied everything that its predecessors committed."""
        return self._is_active

    @property
    def leader_and_epoch(self) -> LeaderAndEpoch:
        return self.raft.leader_and_epoch

    @property
    def voters(self) -> VoterSet:
        return self.raft.voters

    @property
    def kraft_version(self) -> int:
        return self.raft.kraft_version

    def describe(self) -> QuorumDescription | None:
        return self.raft.describe(now_ms=self._now_ms())

    def wall_ms(self, monotonic_ms: int | None) -> int:
        """Converts a monotonic time of the machine to wall-clock time; -1 for None."""
        if monotonic_ms is None:
            return -1
        return self._seams.clock.now_ms() - (self._now_ms() - monotonic_ms)

    # ---- events

    async def handle(self, request: Message, *, listener_name: str | None = None) -> Message:
        """The response to a request that another replica or a tool sent through this listener."""
        if self.failure is not None:
            raise ConnectionAbortedError(f"this node's metadata log has failed: {self.failure}")
        number = self.raft.receive(request, now_ms=self._now_ms(), listener_name=listener_name)
        reply: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._replies[number] = reply
        self._carry_out()
        return await reply

    def append(self, records: Sequence[Message], *, metadata_version: int) -> None:
        """Appends the records of the active controller. After an exception, none were appended."""
        assert self._is_active, "only the active controller writes"
        start_offset, clock = self.log.log_end_offset, self._seams.clock
        try:
            self.log.append(
                records,
                epoch=self.raft.leader_and_epoch.epoch,
                metadata_version=metadata_version,
                now_ms=clock.now_ms(),
            )
            self._note_appended(records, start_offset)
        except BaseException as error:
            if self.log.log_end_offset > start_offset or not isinstance(error, Exception):
                # Part of the operation stays in the log and must not take effect.
                self.fail(error)
            raise
        self._process(self.raft.appended)

    def _note_appended(self, records: Sequence[Message], start_offset: int) -> None:
        end_offset = self.log.log_end_offset
        if end_offset - start_offset == len(records):
            self.metadata.appended(end_offset, records)
            return
        # Several batches, hence a transaction. The next leader may have only some of them.
        for batch in self.log.read_from(start_offset):
            self.metadata.batch_appended(batch)

    def leader_lost(self) -> None:
        """The connection to the leader closed, most likely because the leader stopped."""
        self._process(self.raft.leader_lost)

    def begin_shutdown(self) -> None:
        """This replica no longer starts elections. If it is the leader, it leads until `close`."""
        self._process(self.raft.begin_shutdown)

    async def close(self) -> None:
        """Resigns, waits for pending flushes and snapshots, and closes the log."""
        if self.raft.is_leader and len(self.voters.voters) > 1 and self.failure is None:
            self._process(self.raft.resign)
            await self._wait_next_election()
        if self._flushing is not None:
            await asyncio.wait([self._flushing])
        await self._snapshots.wait_written()
        is_sound = self.failure is None
        self.fail(RuntimeError("the node is stopping"))
        self._peers.close()
        if is_sound:
            self.log.close()
        else:
            self.log.abandon()

    async def _wait_next_election(self) -> None:
        """Waits for the next election to begin, but only for a short time."""
        changed = Wakeup(self._seams.clock)
        self.listen_leader(changed.wake)
        await changed.wait(_FAREWELL_SECONDS)

    def fail(self, error: BaseException) -> None:
        """Stops the replica; all pending requests fail."""
        if self.failure is not None:
            return
        self.failure = error
        if self._timer is not None:
            self._timer.cancel()
        self._end_leadership()
        replies, self._replies = self._replies, {}
        for reply in replies.values():
            if not reply.done():
                reply.set_exception(ConnectionAbortedError(f"the metadata log has failed: {error}"))
        self._notify_leader_changed()

    # ---- carrying out

    def _process(self, event: Callable[..., None], *arguments: object) -> None:
        """Passes an event to the machine, and carries out its decisions."""
        if self.failure is not None:
            return
        try:
            event(*arguments, now_ms=self._now_ms())
        except CommittedRecordsLostError as error:
            _log.exception("this node's metadata log has failed")
            self.fail(error)
        self._carry_out()

    def _carry_out(self) -> None:
        if self._is_carrying_out or self.failure is not None:
            # Called while carrying out a decision: the outer loop carries out the next one.
            return
        self._is_carrying_out = True
        try:
            while self.failure is None and (decisions := self.raft.take_decisions()):
                self._carry_out_one(decisions)
        except BaseException as error:
            # The replica cannot continue after half of a decision.
            self.fail(error)
            if not isinstance(error, Exception):
                raise
            _log.exception("this node's metadata log has failed")
        finally:
            self._is_carrying_out = False
        if self.failure is None:
            self._set_timer()
            self._begin_flush()

    def _carry_out_one(self, decisions: Decisions) -> None:
        now_ms = self._seams.clock.now_ms()
        if decisions.quorum_state is not None:
            write_quorum_state(
                self._seams.disk,
                self.log.directory,
                decisions.quorum_state,
                version=min(self.raft.kraft_version, 1),
            )
        if decisions.truncate_to is not None:
            self.log.truncate_to(decisions.truncate_to, now_ms=now_ms)
            self.metadata.truncated(decisions.truncate_to)
            self.raft.truncated(now_ms=self._now_ms())
        if decisions.append is not None:
            self._append_fetched(decisions.append, now_ms)
        if decisions.append_control:
            epoch = self.raft.leader_and_epoch.epoch
            written = self.log.append_control(decisions.append_control, epoch=epoch, now_ms=now_ms)
            self.raft.appended(written, now_ms=self._now_ms())
        if decisions.snapshot_chunk is not None:
            self._receive_snapshot(decisions.snapshot_chunk, now_ms)
        if decisions.high_watermark is not None:
            self._commit(decisions.high_watermark)
        if decisions.leader is not None:
            self._leader_changed(decisions.leader)
        for send in decisions.sends:
            self._seams.tasks.start("quorum", self._send(send))
        for reply in decisions.replies:
            self._reply(reply)

    def _append_fetched(self, batches: Buffer, now_ms: int) -> None:
        control_records: list[ControlRecord] = []
        epoch = self.raft.leader_and_epoch.epoch
        end = self.log.append_fetched(batches, epoch=epoch, now_ms=now_ms)
        view = memoryview(batches)
        for position, header in iterate_batches(view):
            if header.base_offset >= end:
                break  # Its epoch is later than the leader's: not appended.
            batch = decode_batch(view[position : position + header.size_in_bytes])
            control_records += self.metadata.batch_appended(batch)
        self.raft.appended(control_records, now_ms=self._now_ms())

    def _receive_snapshot(self, chunk: SnapshotChunk, now_ms: int) -> None:
        path = self.log.receive_snapshot(chunk)
        if path is not None:
            # Read it first: an invalid snapshot must not replace the log.
            loaded = load_snapshot(self._seams.disk, path, end_offset=chunk.id.offset)
            self.log.install_snapshot(chunk.id, now_ms=now_ms)
            self.metadata.replace(loaded.replay, end_offset=chunk.id.offset)
            self.raft.snapshot_installed(loaded.control_records, now_ms=self._now_ms())

    def _commit(self, offset: int) -> None:
        self.log.commit(offset)
        self.metadata.commit(offset)
        self._maybe_activate()
        if self._follower is not None:
            self._follower.committed(offset)
        self._snapshots.maybe_begin()

    # ---- leading

    def _leader_changed(self, leader: LeaderAndEpoch) -> None:
        self._end_leadership()
        if leader.leader_id == self._local_id and self.raft.is_leader:
            self._claim = _Claim(leader.epoch, self.log.log_end_offset)
            self._maybe_activate()
        self._notify_leader_changed()

    def _end_leadership(self) -> None:
        was_active, self._is_active, self._claim = self._is_active, False, None
        if was_active and self._follower is not None:
            self._follower.deactivate()

    def _maybe_activate(self) -> None:
        claim = self._claim
        if claim is None or self._is_active or self.metadata.end_offset < claim.offset:
            return
        self._is_active = True
        if self._follower is not None:
            self._follower.activate(claim.epoch)
        self._notify_leader_changed()

    def _notify_leader_changed(self) -> None:
        for listener in self._leader_listeners:
            listener()

    # ---- network

    async def _send(self, send: Send) -> None:
        try:
            response = await self._peers.send(send.destination, send.request)
            require_sound(response)
        except (ChannelError, ProtocolError) as error:
            _log.debug("no response from node %d: %s", send.destination.node_id, error)
            self._process(self.raft.fail, send.number)
            return
        while self._flushing is not None and isinstance(response, FetchSnapshotResponse):
            # The last chunk replaces the log, which must not happen during a flush.
            await asyncio.wait([self._flushing])
        self._process(self.raft.respond, send.number, response)

    def _reply(self, reply: Reply) -> None:
        if reply.read is not None:
            if isinstance(reply.read, ReadLog):
                reply.fill(self.log.read(reply.read.offset, bytes_max=reply.read.bytes_max))
            else:
                reply.fill(self.log.read_snapshot(*reply.read))
        waiting = self._replies.pop(reply.number, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(reply.response)

    # ---- time

    def _now_ms(self) -> int:
        return int(self._seams.clock.monotonic() * 1_000)

    def _set_timer(self) -> None:
        deadline_ms = self.raft.next_deadline_ms
        if self._timer is not None and deadline_ms is not None and self._timer_ms <= deadline_ms:
            # It fires early, which does no harm, and is set again then.
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if deadline_ms is not None:
            self._timer_ms = deadline_ms
            seconds = max(deadline_ms - self._now_ms(), 0) / 1_000 + 0.001
            self._timer = self._seams.clock.call_later(seconds, self._time_passed)

    def _time_passed(self) -> None:
        self._timer = None
        self._process(self.raft.advance)

    # ---- durability

    def _begin_flush(self) -> None:
        if self._flushing is None and self.log.flushed_end_offset < self.log.log_end_offset:
            self._flushing = self._seams.tasks.start("metadata-flush", self._flush())

    async def _flush(self) -> None:
        try:
            while self.failure is None and (flush := self.log.prepare_flush()) is not None:
                await self._seams.background.run(flush.run)
                self.log.complete_flush(flush)
                self._process(self.raft.flushed)
        except BaseException as error:
            self.fail(error)
            raise
        finally:
            self._flushing = None
