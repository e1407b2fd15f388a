"""Control records that the metadata quorum writes into its log and its snapshots.

A new leader starts its epoch with a leader change message (KIP-595), a snapshot has a header and a
footer (KIP-630), and the voter set and its version are in the log since KIP-853.
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Int16, Int32, Int64, Message, String, Struct, Uint16, Uuid, field


class LeaderChangeMessageVoter(Struct):
    voter_id: Int32 = 0
    voter_directory_id: Uuid = field(default=ZERO_UUID, versions="1+")


class LeaderChangeMessage(Message, versions="0-1", flexible="0+"):
    version: Int16 = 0
    leader_id: Int32 = 0
    voters: list[LeaderChangeMessageVoter] = field(factory=list)
    granting_voters: list[LeaderChangeMessageVoter] = field(factory=list)


class SnapshotHeaderRecord(Message, versions="0", flexible="0+"):
    version: Int16 = 0
    last_contained_log_timestamp: Int64 = 0


class SnapshotFooterRecord(Message, versions="0", flexible="0+"):
    version: Int16 = 0


class KRaftVersionRecord(Message, versions="0", flexible="0+"):
    version: Int16 = 0
    kraft_version: Int16 = 0


class Endpoint(Struct):
    name: String = ""
    host: String = ""
    port: Uint16 = 0


class KRaftVersionFeature(Struct):
    min_supported_version: Int16 = 0
    max_supported_version: Int16 = 0


class VotersRecordVoter(Struct):
    voter_id: Int32 = 0
    voter_directory_id: Uuid = ZERO_UUID
    endpoints: list[Endpoint] = field(factory=list)
    kraft_version_feature: KRaftVersionFeature = field(factory=KRaftVersionFeature)


class VotersRecord(Message, versions="0", flexible="0+"):
    version: Int16 = 0
    voters: list[VotersRecordVoter] = field(factory=list)
