"""Consensus over the metadata log: KRaft as Kafka 4.3 speaks it, without I/O, time or chance.

`Raft` is one replica. The caller owns the disk, the network, the clock and the log; it tells the
machine what happened and carries out what the machine decides, like a user of etcd's raft:

    raft = Raft(config, log, dice, state=..., control_records=..., now_ms=...)

    raft.receive(request) -> number        a request came; the reply will have that number
    raft.respond(number, response)         the response to a Send came
    raft.fail(number)                      a Send failed, or its response is not sound
    raft.advance()                         `raft.next_deadline_ms` is past
    raft.appended(control_records)         the log is longer
    raft.truncated()                       the log is shorter
    raft.flushed()                         `log.flushed_end_offset` is greater
    raft.snapshot_installed(records)       a snapshot took the place of the log
    raft.begin_shutdown()                  this replica is going to stop: it must not be elected
    raft.resign()                          this replica is about to stop: another one has to lead
    raft.leader_lost()                     the connection to the leader ended

each with `now_ms`. After every event, and once after it was made, the caller carries out
`raft.take_decisions()` until there are none. In this order, the parts of one `Decisions`:

 1. `quorum_state`: write it to `quorum-state` and sync that (version 1 of the file, or 0 while
    `raft.kraft_version` is 0). Nobody may hear of a vote or an epoch that a crash can take back.
 2. `truncate_to`: cut the log there, durably, and call `truncated`. Nothing that was committed
    goes, but whoever looked further ahead has to go back.
 3. `append`: fetched batches, to be appended as they are. `append_control`: the leader's own
    records, to be appended as one control batch in its epoch. Then call `appended` with the
    control records in them and their offsets. Check fetched batches before `respond`: if they
    are not sound, call `fail` instead.
 4. `snapshot_chunk`: write it at its position, 0 begins a file. After the last one, sync the
    file, put it in the place of the whole log and call `snapshot_installed`.
 5. `high_watermark`: everything below is committed and may be applied. `leader`: who leads.
 6. `sends` and `replies`: hand them to the network. A reply that has a `read` is `fill`ed with the
    bytes that it names first.
 7. If the log has grown, flush it. That alone may be left to a worker, with other events in the
    meantime; call `flushed` when it is done. Nothing commits and no follower fetches before.

Everything else is done before the next event. While `raft.is_leader`, the caller may append batches
of its own in `raft.leader_and_epoch.epoch` between events, and calls `appended` after that.

Where to read on: `states` has the states and their diagram, `quorum` the transitions; `voting`,
`epochs`, `serving`, `following`, `snapshots`, `voter_changes` and `voter_updates` the messages,
`progress` has what commits, `voter_history` who votes.
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
