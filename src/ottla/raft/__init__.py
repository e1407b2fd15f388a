"""Consensus over the metadata log: KRaft as in Kafka 4.3, without I/O, clock or randomness.

`Raft` is one replica. The caller owns the disk, the network, the clock and the log. It reports
events to the machine and carries out the decisions of the machine, as a user of etcd's raft does:

    raft = Raft(config, log, dice, state=..., control_records=..., now_ms=...)

    raft.receive(request) -> number        a request arrived; its reply will have this number
    raft.respond(number, response)         the response to a Send arrived
    raft.fail(number)                      a Send failed, or its response is invalid
    raft.advance()                         `raft.next_deadline_ms` has passed
    raft.appended(control_records)         records were appended to the log
    raft.truncated()                       the log was truncated
    raft.flushed()                         `log.flushed_end_offset` has advanced
    raft.snapshot_installed(records)       a snapshot replaced the log
    raft.begin_shutdown()                  this replica will stop: it must not be elected
    raft.resign()                          this replica is about to stop: another one has to lead
    raft.leader_lost()                     the connection to the leader closed

Each of them takes `now_ms`. After every event, and once after creating the machine, the caller
carries out `raft.take_decisions()` until it is empty. The parts of one `Decisions`, in this order:

 1. `quorum_state`: write it to `quorum-state` and sync the file (version 1 of the file, or 0 while
    `raft.kraft_version` is 0). No vote or epoch may be sent that a crash could undo.
 2. `truncate_to`: truncate the log there, durably, and call `truncated`. This never removes
    committed records, but the caller has to drop any uncommitted records that it applied.
 3. `append`: fetched batches, to be appended unchanged. `append_control`: the leader's own
    records, to be appended as one control batch in its epoch. Then call `appended` with the
    control records in them and their offsets. Validate fetched batches before `respond`: if they
    are invalid, call `fail` instead.
 4. `snapshot_chunk`: write it at its position; position 0 starts a new file. After the last chunk,
    sync the file, replace the whole log with it and call `snapshot_installed`.
 5. `high_watermark`: all records below it are committed and may be applied. `leader`: the current
    leader and epoch.
 6. `sends` and `replies`: hand them to the network. If a reply has a `read`, first read those
    bytes and pass them to `fill`.
 7. If the log has grown, flush it. Only this step may run in a worker while other events are
    handled; call `flushed` when it is done. Until then the appended records do not count as
    replicated here, and a follower does not fetch.

All other steps are done before the next event. While `raft.is_leader`, the caller may append
batches of its own in `raft.leader_and_epoch.epoch` between events, and calls `appended` afterwards.

Where to read on: `states` has the states and their diagram, `quorum` the transitions; `voting`,
`epochs`, `serving`, `following`, `snapshots`, `voter_changes` and `voter_updates` the messages,
`progress` the rule for committing, `voter_history` the voter sets.
"""

from ottla.raft.config import BootstrapServer, ElectionDice, RaftConfig
from ottla.raft.decisions import (
    Decisions,
    Destination,
    LeaderAndEpoch,
    ReadLog,
    ReadSnapshot,
    Reply,
    Send,
    SnapshotChunk,
)
from ottla.raft.description import QuorumDescription, ReplicaDescription
from ottla.raft.errors import CommittedRecordsLostError
from ottla.raft.log import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch, ReplicatedLog
from ottla.raft.machine import Raft
from ottla.raft.voter_history import ControlRecord, QuorumVersion
from ottla.raft.voters import KRaftVersions, ReplicaKey, Voter, VoterEndpoint, VoterSet

__all__ = [
    "BOOTSTRAP_SNAPSHOT_ID",
    "BootstrapServer",
    "CommittedRecordsLostError",
    "ControlRecord",
    "Decisions",
    "Destination",
    "ElectionDice",
    "KRaftVersions",
    "LeaderAndEpoch",
    "OffsetAndEpoch",
    "QuorumDescription",
    "QuorumVersion",
    "Raft",
    "RaftConfig",
    "ReadLog",
    "ReadSnapshot",
    "ReplicaDescription",
    "ReplicaKey",
    "ReplicatedLog",
    "Reply",
    "Send",
    "SnapshotChunk",
    "Voter",
    "VoterEndpoint",
    "VoterSet",
]
