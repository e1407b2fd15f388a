"""A voter sends its new endpoints and versions to the quorum's leader (KIP-853)."""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Int16, Int32, Message, Struct, Text, Uint16, Uuid, field


class Listener(Struct):
    name: Text = ""
    host: Text = ""
    port: Uint16 = 0


class KRaftVersionFeature(Struct):
    min_supported_version: Int16 = 0
    max_supported_version: Int16 = 0


class UpdateRaftVoterRequest(Message, api_key=82, versions="0", flexible="0+"):
    cluster_id: Text | None = ""
    current_leader_epoch: Int32 = 0
    voter_id: Int32 = 0
    voter_directory_id: Uuid = ZERO_UUID
    listeners: list[Listener] = field(factory=list)
    kraft_version_feature: KRaftVersionFeature = field(factory=KRaftVersionFeature)


class CurrentLeader(Struct):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1
    host: Text = ""
    port: Int32 = 0


class UpdateRaftVoterResponse(Message, api_key=82, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    current_leader: CurrentLeader | None = field(default=None, nullable="none", tag=0)
