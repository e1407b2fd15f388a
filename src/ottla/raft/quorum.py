"""The replica's place in the quorum: its state, the transitions, and what all handlers share.

`ottla.raft.states` has the diagram. A transition that changes the epoch, the vote or the leader
persists the quorum state, and every transition drops the requests in flight.
"""

from __future__ import annotations

from ottla.model import ZERO_UUID, ErrorCode
from ottla.raft.config import ElectionDice, RaftConfig
from ottla.raft.connections import RaftConnections
from ottla.raft.decisions import Decisions, Destination, LeaderAndEpoch, Reply, Send
from ottla.raft.election import Election
from ottla.raft.log import ReplicatedLog
from ottla.raft.messages import NO_REPLICA_ID, LeaderView
from ottla.raft.progress import CheckQuorum, Progress
from ottla.raft.responses import fetch_response, replace_leader_address, voter_change_response
from ottla.raft.states import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    State,
    Unattached,
)
from ottla.raft.voter_history import VoterHistory
from ottla.raft.voters import ReplicaKey, VoterEndpoint, VoterSet
from ottla.wire.schema import Message
from ottla.wire.stored.quorum import (
    KRaftVersionRecord,
    LeaderChangeMessage,
    LeaderChangeMessageVoter,
)
from ottla.wire.stored.quorum_state import QuorumStateData
from ottla.wire.stored.quorum_state import Voter as StoredVoter


class Quorum:
    """Created by `Raft`, shared by the handlers of one replica, owned by one thread."""

    def __init__(
        self, config: RaftConfig, log: ReplicatedLog, dice: ElectionDice, history: VoterHistory
    ) -> None:
        self.config = config
        self.log = log
        self.dice = dice
        self.history = history
        self.decisions = Decisions()
        self.connections = RaftConnections(
            request_timeout_ms=config.request_timeout_ms, retry_backoff_ms=config.retry_backoff_ms
        )
        self.high_watermark: int | None = None
        self.state: State = Unattached(epoch=0, election_deadline_ms=None)
        # While shutting down the replica still votes, follows or leads, but starts no elections.
        self.is_shutting_down = False
        # The listeners of the requests that came through another one than the replicas use.
        self.other_listeners: dict[int, str] = {}

    # ---- facts

    @property
    def local(self) -> ReplicaKey:
        return self.config.local

    @property
    def voters(self) -> VoterSet:
        return self.history.voters

    @property
    def is_voter(self) -> bool:
        return self.voters.has(self.local)

    @property
    def is_only_voter(self) -> bool:
        return self.is_voter and len(self.voters.voters) == 1

    @property
    def may_stand(self) -> bool:
        """Whether this replica may start an election. A voter may; so may a replica whose removal
        from the voters is not known to be committed, since it may be the only one that has the
        record, so that no other replica can win (Ongaro's thesis, 4.2.2). It then has no vote of
        its own."""
        if self.is_shutting_down:
            return False
        offset = self.history.voters_offset
        is_committed = offset is not None and offset < (self.high_watermark or 0)
        return self.is_voter or (not is_committed and self.history.previous_voters.has(self.local))

    @property
    def epoch(self) -> int:
        return self.state.epoch

    @property
    def is_flushed(self) -> bool:
        return self.log.flushed_end_offset >= self.log.end.offset

    @property
    def leader(self) -> LeaderView:
        """The leader as reported to peers. A resigned leader is included: no other leader is
        possible in its epoch."""
        state = self.state
        if isinstance(state, Leader | Resigned):
            local = self.config.local_voter.endpoint(self.config.listener_name)
            return LeaderView(state.epoch, self.local.id, local)
        if isinstance(state, Follower | Prospective):
            return LeaderView(state.epoch, state.leader_id, state.leader_endpoint)
        leader_id = state.leader_id if isinstance(state, Unattached) else None
        return LeaderView(state.epoch, leader_id, None)

    @property
    def leader_and_epoch(self) -> LeaderAndEpoch:
        """The leader as reported to the caller; None if this replica was the leader and
        resigned."""
        is_resigned = isinstance(self.state, Resigned)
        return LeaderAndEpoch(None if is_resigned else self.leader.leader_id, self.epoch)

    def destination(self, voter_id: int) -> Destination | None:
        voter = self.voters.get(voter_id)
        endpoint = voter and voter.endpoint(self.config.listener_name)
        return Destination(voter_id, endpoint.host, endpoint.port) if endpoint else None

    # ---- decisions

    def send(self, destination: Destination, request: Message, *, now_ms: int) -> None:
        number = self.connections.start(destination, request, now_ms=now_ms)
        self.decisions.sends.append(Send(number, destination, request))

    def reply(self, reply: Reply) -> None:
        listener = self.other_listeners.pop(reply.number, None)
        if listener is not None:
            replace_leader_address(reply.response, self._leader_endpoint(listener))
        self.decisions.replies.append(reply)

    def advance_high_watermark(self, offset: int) -> None:
        if self.high_watermark is None or offset > self.high_watermark:
            self.high_watermark = self.decisions.high_watermark = offset

    # ---- transitions

    def become_unattached(self, epoch: int, *, now_ms: int, leader_id: int | None = None) -> None:
        has_withdrawn = isinstance(self.state, Candidate) and self.is_shutting_down
        may_stay = isinstance(self.state, Prospective) or has_withdrawn
        assert epoch > self.epoch or (epoch == self.epoch and may_stay)
        deadline_ms = self._pending_election_ms(now_ms) if self.may_stand else None
        voted = self.vote_in(epoch)
        self._enter(Unattached(epoch, deadline_ms, leader_id=leader_id, voted=voted))

    def become_voted(self, candidate: ReplicaKey, *, now_ms: int) -> None:
        """Casts the vote of this epoch and waits a full election timeout for the outcome."""
        assert self.vote_in(self.epoch) is None
        assert isinstance(self.state, Unattached | Prospective)
        deadline_ms = self.election_deadline_ms(now_ms)
        self._enter(Unattached(self.epoch, deadline_ms, voted=candidate))

    def become_prospective(self, *, now_ms: int) -> None:
        assert self.may_stand
        assert not isinstance(self.state, Leader | Prospective)
        epoch, leader_id, endpoint = self.leader
        self._enter(
            Prospective(
                epoch,
                self.election_deadline_ms(now_ms),
                Election(self.voters, self.local),
                leader_id=leader_id,
                leader_endpoint=endpoint,
                voted=self.vote_in(epoch),
            )
        )

    def become_candidate(self, *, now_ms: int) -> None:
        assert isinstance(self.state, Prospective)
        assert self.state.election.is_won
        election = Election(self.voters, self.local)
        self._enter(Candidate(self.epoch + 1, self.election_deadline_ms(now_ms), election))

    def become_leader(self, *, now_ms: int) -> None:
        """Appends a first record in the new epoch: nothing commits before a record of the leader's
        own epoch does."""
        assert isinstance(self.state, Candidate)
        election = self.state.election
        assert election.is_won
        start_offset = self.log.end.offset
        progress = Progress(self.local, self.voters, epoch_start_offset=start_offset)
        timeout_ms = self.config.check_quorum_timeout_ms
        check_quorum = CheckQuorum(self.local, timeout_ms=timeout_ms, now_ms=now_ms)
        self._enter(Leader(self.epoch, start_offset, progress, check_quorum, now_ms))
        self.decisions.append_control.extend(self._opening_records(election))

    def become_follower(self, leader: LeaderView, *, now_ms: int) -> None:
        epoch, leader_id, endpoint = leader
        assert leader_id is not None
        assert endpoint is not None
        assert leader_id != self.local.id
        assert epoch >= self.epoch
        assert epoch > self.epoch or not isinstance(self.state, Leader | Resigned)
        self._enter(
            Follower(
                epoch,
                leader_id,
                endpoint,
                fetch_deadline_ms=self.fetch_deadline_ms(now_ms),
                update_voter_ms=now_ms + self.config.fetch_timeout_ms,
                voted=self.vote_in(epoch),
            )
        )

    def become_resigned(self, *, now_ms: int) -> None:
        assert isinstance(self.state, Leader)
        successors = self.state.progress.successors()
        self._enter(
            Resigned(
                self.epoch,
                self.election_deadline_ms(now_ms),
                successors=successors,
                unacknowledged=set(self.voters.ids) - {self.local.id},
            )
        )

    def restore(self, stored: QuorumStateData, *, now_ms: int) -> None:
        """Restores the state from before the restart; a leader comes back as resigned.

        If the log has a greater epoch than the file (which may have been removed), the epoch of the
        log counts.
        """
        epoch = max(stored.leader_epoch, 0)
        deadline_ms = self.election_deadline_ms(now_ms)
        if epoch < self.log.end.epoch:
            self.state = Unattached(self.log.end.epoch, deadline_ms)
            self.decisions.quorum_state = self._stored()
            return
        voted = None
        if stored.voted_id >= 0:
            voted = ReplicaKey(stored.voted_id, stored.voted_directory_id)
        leader_id = None if stored.leader_id < 0 else stored.leader_id
        leader = LeaderView(epoch, leader_id, self._voter_endpoint(leader_id))
        self.state = Unattached(epoch, deadline_ms, leader_id=leader_id, voted=voted)
        if leader_id == self.local.id:
            unacknowledged = set(self.voters.ids) - {leader_id}
            self.state = Resigned(epoch, deadline_ms, [], unacknowledged)
        elif voted is not None and voted.admits(self.local) and self.may_stand:
            self.state = Candidate(epoch, deadline_ms, Election(self.voters, self.local))
        elif leader.endpoint is not None:
            self.become_follower(leader, now_ms=now_ms)
        elif not self.may_stand:
            self.state.election_deadline_ms = None

    def vote_in(self, epoch: int) -> ReplicaKey | None:
        """The candidate that this replica voted for in an epoch; None if it did not vote, or if the
        current state no longer needs the vote."""
        state = self.state
        if epoch != state.epoch:
            return None
        if isinstance(state, Candidate):
            return self.local
        return None if isinstance(state, Leader | Resigned) else state.voted

    def election_deadline_ms(self, now_ms: int) -> int:
        """One to two election timeouts from now, at random, so that voters seldom start elections
        at the same time."""
        timeout_ms = max(self.config.election_timeout_ms, 1)
        return now_ms + timeout_ms + self.dice.below(timeout_ms)

    def fetch_deadline_ms(self, now_ms: int) -> int:
        """The fetch timeout plus up to 10 % at random. When a leader fails, all its followers lose
        it at the same time; with equal deadlines each would vote for itself before the requests of
        the others arrive."""
        timeout_ms = self.config.fetch_timeout_ms
        return now_ms + timeout_ms + self.dice.below(timeout_ms // 10 + 1)

    def _leader_endpoint(self, listener: str) -> VoterEndpoint | None:
        """The leader's address for nodes that use this listener."""
        if isinstance(self.state, Leader | Resigned):
            return self.config.local_voter.endpoint(listener)
        voter = self.voters.get(self.leader.id_or_minus_one)
        return voter and voter.endpoint(listener)

    # ---- within a transition

    def _pending_election_ms(self, now_ms: int) -> int:
        """Keeps the deadline of an election that is already pending: another election does not
        postpone it."""
        state = self.state
        is_lost = isinstance(state, Prospective) and state.election.is_lost
        if is_lost or isinstance(state, Follower | Leader) or state.election_deadline_ms is None:
            return self.election_deadline_ms(now_ms)
        return max(state.election_deadline_ms, now_ms)

    def _enter(self, state: State) -> None:
        assert state.epoch >= self.epoch, f"from {self.state} to {state}"
        before, stored, announced = self.state, self._stored(), self.leader_and_epoch
        self.state = state
        self.connections.reset()
        if self._stored() != stored:
            self.decisions.quorum_state = self._stored()
        if self.leader_and_epoch != announced:
            self.decisions.leader = self.leader_and_epoch
        if isinstance(before, Leader):
            self._abandon(before)

    def _abandon(self, leader: Leader) -> None:
        """Sends errors to the requests that were waiting when this replica stopped being the
        leader."""
        error = ErrorCode.NOT_LEADER_OR_FOLLOWER
        for number in leader.parked:
            self.reply(Reply(number, fetch_response(self.leader, self.log, error)))
        change = leader.change
        if change is not None and not change.is_answered:
            self.reply(Reply(change.number, voter_change_response(change.request, error)))

    def _stored(self) -> QuorumStateData:
        voted = self.vote_in(self.epoch) or ReplicaKey(NO_REPLICA_ID, ZERO_UUID)
        return QuorumStateData(
            leader_id=self.leader.id_or_minus_one,
            leader_epoch=self.epoch,
            voted_id=voted.id,
            voted_directory_id=voted.directory_id,
            current_voters=[StoredVoter(voter_id=voter_id) for voter_id in self.voters.ids],
        )

    def _opening_records(self, election: Election) -> list[Message]:
        """Includes the voters if they are not in the log yet, or if this voter's endpoints or
        supported versions have changed."""
        opening = LeaderChangeMessage(
            leader_id=self.local.id,
            voters=[LeaderChangeMessageVoter(voter_id=each) for each in self.voters.ids],
            granting_voters=[
                LeaderChangeMessageVoter(voter_id=each) for each in election.granting_voters
            ],
        )
        if self.history.kraft_version == 0:
            return [opening]
        local = self.config.local_voter
        if self.history.voters_offset != -1 and not self.voters.needs_update(local):
            return [opening]
        voters = self.voters.updated(local)
        assert voters is not None
        version = KRaftVersionRecord(kraft_version=self.history.kraft_version)
        return [opening, version, voters.to_record()]

    def _voter_endpoint(self, voter_id: int | None) -> VoterEndpoint | None:
        voter = None if voter_id is None else self.voters.get(voter_id)
        return voter and voter.endpoint(self.config.listener_name)
