"""`Raft`: one replica of the metadata quorum. Events in, decisions out.

The package's docstring describes how to drive it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ottla.raft import epochs, following, serving, snapshots, voter_changes, voter_updates, voting
from ottla.raft.config import ElectionDice, RaftConfig
from ottla.raft.connections import InFlight
from ottla.raft.decisions import Decisions, LeaderAndEpoch, Reply
from ottla.raft.description import QuorumDescription, describe_quorum
from ottla.raft.leader_updates import Handled
from ottla.raft.log import ReplicatedLog
from ottla.raft.quorum import Quorum
from ottla.raft.states import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    State,
    Unattached,
)
from ottla.raft.voter_history import ControlRecord, QuorumVersion, VoterHistory
from ottla.raft.voters import VoterSet
from ottla.wire.messages.add_raft_voter import AddRaftVoterRequest
from ottla.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.wire.messages.begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
)
from ottla.wire.messages.end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse
from ottla.wire.messages.fetch import FetchRequest, FetchResponse
from ottla.wire.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from ottla.wire.messages.remove_raft_voter import RemoveRaftVoterRequest
from ottla.wire.messages.update_raft_voter import UpdateRaftVoterRequest, UpdateRaftVoterResponse
from ottla.wire.messages.vote import VoteRequest, VoteResponse
from ottla.wire.schema import Message
from ottla.wire.stored.quorum import VotersRecord
from ottla.wire.stored.quorum_state import QuorumStateData

# After losing the connection to the leader, a follower waits this long plus up to as much again at
# random, so that not all followers start elections at the same time.
_PATIENCE_MS = 20


class Raft:
    """Lives as long as the process: a restarted replica creates a new one from the state on disk.

    `state` is the last `Decisions.quorum_state` that was persisted, None at the first start.
    `control_records` are those of the latest snapshot and of the log after it. Times are monotonic
    milliseconds and never decrease between events. Owned by one thread.
    """

    def __init__(
        self,
        config: RaftConfig,
        log: ReplicatedLog,
        dice: ElectionDice,
        *,
        state: QuorumStateData | None,
        control_records: Sequence[ControlRecord],
        now_ms: int,
    ) -> None:
        self._quorum = Quorum(
            config, log, dice, VoterHistory(config.static_voters, control_records)
        )
        self._last_number = 0
        self._quorum.restore(state or QuorumStateData(leader_epoch=0), now_ms=now_ms)
        if self._quorum.is_only_voter:
            self._stand_alone(now_ms)
        self._poll(now_ms)

    # ---- facts

    @property
    def state(self) -> State:
        return self._quorum.state

    @property
    def is_leader(self) -> bool:
        """Whether the caller may append to the log, in `leader_and_epoch.epoch`."""
        return isinstance(self.state, Leader)

    @property
    def leader_and_epoch(self) -> LeaderAndEpoch:
        return self._quorum.leader_and_epoch

    @property
    def high_watermark(self) -> int | None:
        """All records below this offset are committed, as far as this replica knows."""
        return self._quorum.high_watermark

    @property
    def voters(self) -> VoterSet:
        return self._quorum.voters

    @property
    def kraft_version(self) -> int:
        return self._quorum.history.kraft_version

    def quorum_at(self, end_offset: int) -> QuorumVersion:
        """The kraft.version and voters to put in a snapshot of all records below an offset."""
        return self._quorum.history.at(end_offset)

    def describe(self, *, now_ms: int) -> QuorumDescription | None:
        """For DescribeQuorum; None unless this replica is the leader."""
        return describe_quorum(self._quorum, now_ms=now_ms)

    @property
    def next_deadline_ms(self) -> int | None:
        """When to call `advance` if no other event happens before."""
        deadlines = [self._quorum.connections.next_deadline_ms, *self._state_deadlines()]
        return min((each for each in deadlines if each is not None), default=None)

    # ---- events

    def receive(self, request: Message, *, now_ms: int, listener_name: str | None = None) -> int:
        """A request of a peer or a client; returns the number of its reply, which names the
        leader's address on the listener of the request (KIP-853). None is the listener that this
        replica uses itself."""
        self._require_carried_out()
        self._last_number += 1
        number, quorum = self._last_number, self._quorum
        if listener_name not in (None, quorum.config.listener_name):
            quorum.other_listeners[number] = listener_name
        match request:
            case VoteRequest():
                quorum.reply(Reply(number, voting.receive_vote(quorum, request, now_ms=now_ms)))
            case BeginQuorumEpochRequest():
                begun = epochs.receive_begin_quorum_epoch(quorum, request, now_ms=now_ms)
                quorum.reply(Reply(number, begun))
            case EndQuorumEpochRequest():
                ended = epochs.receive_end_quorum_epoch(quorum, request, now_ms=now_ms)
                quorum.reply(Reply(number, ended))
            case FetchRequest():
                serving.receive_fetch(quorum, number, request, now_ms=now_ms)
            case FetchSnapshotRequest():
                snapshots.receive_fetch_snapshot(quorum, number, request, now_ms=now_ms)
            case AddRaftVoterRequest():
                voter_changes.receive_add_voter(quorum, number, request, now_ms=now_ms)
            case RemoveRaftVoterRequest():
                voter_changes.receive_remove_voter(quorum, number, request, now_ms=now_ms)
            case UpdateRaftVoterRequest():
                updated = voter_updates.receive_update_voter(quorum, request, now_ms=now_ms)
                quorum.reply(Reply(number, updated))
            case _:
                raise TypeError(f"{type(request).__name__} is not a message of the quorum")
        self._poll(now_ms)
        return number

    def respond(self, number: int, response: Message, *, now_ms: int) -> None:
        """The response to a `Send`. Ignored if the request is no longer in flight."""
        self._require_carried_out()
        sent = self._quorum.connections.take(number)
        if sent is not None and self._take_response(sent, response, now_ms) is Handled.FAILED:
            self._quorum.connections.back_off(sent.destination.node_id, now_ms=now_ms)
        self._poll(now_ms)

    def fail(self, number: int, *, now_ms: int) -> None:
        """A `Send` was not delivered, or has no valid response."""
        self._require_carried_out()
        sent = self._quorum.connections.take(number)
        if sent is not None:
            self._quorum.connections.back_off(sent.destination.node_id, now_ms=now_ms)
            if isinstance(sent.request, ApiVersionsRequest):
                voter_changes.fail_api_versions(self._quorum)
        self._poll(now_ms)

    def advance(self, *, now_ms: int) -> None:
        """Time has passed."""
        self._require_carried_out()
        self._poll(now_ms)

    def appended(self, control_records: Sequence[ControlRecord] = (), *, now_ms: int) -> None:
        """The log has grown, by the decided append or, on the leader, by the caller's own
        batches."""
        quorum = self._quorum
        quorum.history.add(control_records)
        state = quorum.state
        if isinstance(state, Leader) and any(
            isinstance(record, VotersRecord) for _, record in control_records
        ):
            voter_changes.voters_appended(quorum, state)
        elif isinstance(state, Follower):
            state.is_log_changing = False
            following.follow_high_watermark(quorum, state)
        self._poll(now_ms)

    def truncated(self, *, now_ms: int) -> None:
        """The log was truncated as decided."""
        if isinstance(self.state, Follower):
            self.state.is_log_changing = False
        self._poll(now_ms)

    def flushed(self, *, now_ms: int) -> None:
        """More of the log is durable: `ReplicatedLog.flushed_end_offset` has advanced."""
        self._poll(now_ms)

    def snapshot_installed(self, control_records: Sequence[ControlRecord], *, now_ms: int) -> None:
        """The downloaded snapshot, which has these control records, replaced the log."""
        quorum, state = self._quorum, self._quorum.state
        assert isinstance(state, Follower)
        assert state.download is not None
        assert state.download.is_complete
        assert quorum.log.end == state.download.id
        quorum.history.replace(control_records)
        quorum.advance_high_watermark(state.download.id.offset)
        state.download = None
        self._poll(now_ms)

    def begin_shutdown(self, *, now_ms: int) -> None:
        """This replica will stop: it no longer starts elections, and gives up its candidacy if it
        is a candidate. A leader keeps leading until `resign`."""
        self._require_carried_out()
        self._quorum.is_shutting_down = True
        self._poll(now_ms)

    def resign(self, *, now_ms: int) -> None:
        """Gives up leadership before this replica stops. No effect if it is not the leader."""
        self._require_carried_out()
        if isinstance(self.state, Leader):
            self.state.is_to_resign = True
        self._poll(now_ms)

    def leader_lost(self, *, now_ms: int) -> None:
        """The connection to the leader closed. A voter then waits only a moment for the leader, not
        the whole fetch timeout: pre-votes ensure that a healthy leader is not deposed."""
        self._require_carried_out()
        state = self.state
        if isinstance(state, Follower) and self._quorum.is_voter:
            patience_ms = _PATIENCE_MS + self._quorum.dice.below(_PATIENCE_MS)
            state.fetch_deadline_ms = min(state.fetch_deadline_ms, now_ms + patience_ms)
        self._poll(now_ms)

    def take_decisions(self) -> Decisions:
        """What to do now. False if there is nothing."""
        decisions, self._quorum.decisions = self._quorum.decisions, Decisions()
        return decisions

    # ---- within an event

    def _take_response(self, sent: InFlight, response: Message, now_ms: int) -> Handled:
        quorum, node_id = self._quorum, sent.destination.node_id
        match sent.request, response:
            case VoteRequest(), VoteResponse():
                return voting.take_vote_response(quorum, node_id, response, now_ms=now_ms)
            case BeginQuorumEpochRequest(), BeginQuorumEpochResponse():
                return epochs.take_begin_quorum_epoch_response(quorum, response, now_ms=now_ms)
            case EndQuorumEpochRequest(), EndQuorumEpochResponse():
                return epochs.take_end_quorum_epoch_response(
                    quorum, node_id, response, now_ms=now_ms
                )
            case FetchRequest(), FetchResponse():
                return following.take_fetch_response(quorum, response, now_ms=now_ms)
            case FetchSnapshotRequest(), FetchSnapshotResponse():
                return snapshots.take_fetch_snapshot_response(quorum, response, now_ms=now_ms)
            case UpdateRaftVoterRequest(), UpdateRaftVoterResponse():
                return voter_updates.take_update_voter_response(quorum, response, now_ms=now_ms)
            case ApiVersionsRequest(), ApiVersionsResponse():
                return voter_changes.take_api_versions_response(
                    quorum, node_id, response, now_ms=now_ms
                )
        raise TypeError(f"{response!r} does not answer {type(sent.request).__name__}")

    def _poll(self, now_ms: int) -> None:
        """Runs the actions of the current state until the state no longer changes."""
        self._quorum.connections.advance(now_ms)
        state = None
        while state is not self.state:
            state = self.state
            self._poll_state(state, now_ms)

    def _poll_state(self, state: State, now_ms: int) -> None:
        quorum = self._quorum
        match state:
            case Unattached():
                following.poll_unattached(quorum, state, now_ms=now_ms)
            case Prospective():
                voting.poll_prospective(quorum, state, now_ms=now_ms)
            case Candidate():
                voting.poll_candidate(quorum, state, now_ms=now_ms)
            case Follower():
                following.poll_follower(quorum, state, now_ms=now_ms)
            case Leader():
                self._poll_leader(state, now_ms)
            case Resigned():
                epochs.poll_resigned(quorum, state, now_ms=now_ms)

    def _poll_leader(self, leader: Leader, now_ms: int) -> None:
        quorum = self._quorum
        serving.maybe_commit(quorum, leader)
        is_cut_off = not quorum.is_only_voter and now_ms >= leader.check_quorum.deadline_ms
        if leader.is_to_resign or is_cut_off:
            quorum.become_resigned(now_ms=now_ms)
            return
        voter_changes.maybe_expire_change(quorum, leader, now_ms=now_ms)
        serving.answer_due_fetches(quorum, leader, now_ms=now_ms)
        epochs.send_begin_quorum_epoch(quorum, leader, now_ms=now_ms)

    def _state_deadlines(self) -> list[int | None]:
        state, may_stand = self.state, self._quorum.may_stand
        match state:
            case Unattached():
                return [state.election_deadline_ms if may_stand else None]
            case Prospective() | Candidate() | Resigned():
                return [state.election_deadline_ms]
            case Follower():
                return [state.fetch_deadline_ms if may_stand else None]
            case Leader():
                waiting = [fetch.deadline_ms for fetch in state.parked.values()]
                if state.change is not None:
                    waiting.append(state.change.deadline_ms)
                if not self._quorum.is_only_voter:
                    waiting += [state.check_quorum.deadline_ms, state.begin_quorum_epoch_ms]
                return [*waiting]

    def _stand_alone(self, now_ms: int) -> None:
        """The only voter starts an election immediately: there is no other voter to wait for."""
        if not isinstance(self.state, Candidate):
            self._quorum.become_prospective(now_ms=now_ms)

    def _require_carried_out(self) -> None:
        assert not self._quorum.decisions, "carry out the last decisions before the next event"
