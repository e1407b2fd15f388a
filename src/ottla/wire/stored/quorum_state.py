"""The file `quorum-state`: this node's vote and leader in the current epoch (KIP-595).

Kafka stores it as one line of JSON with the field names of its schema and a `data_version`.
"""

from __future__ import annotations

import json
from typing import Any

from ottla.model import ZERO_UUID, uuid_from_text, uuid_to_text
from ottla.wire.errors import ProtocolError
from ottla.wire.schema import Int32, Int64, Message, String, Struct, Uuid, field


class Voter(Struct):
    voter_id: Int32 = 0


class QuorumStateData(Message, versions="0-1", flexible="0+"):
    cluster_id: String = field(default="", versions="0")
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1
    voted_id: Int32 = -1
    voted_directory_id: Uuid = field(default=ZERO_UUID, versions="1+")
    applied_offset: Int64 = field(default=0, versions="0")
    current_voters: list[Voter] | None = field(factory=list, versions="0")


def quorum_state_to_json(state: QuorumStateData, version: int) -> str:
    common = {
        "leaderId": state.leader_id,
        "leaderEpoch": state.leader_epoch,
        "votedId": state.voted_id,
    }
    if version == 0:
        voters = state.current_voters
        written = {
            "clusterId": state.cluster_id,
            **common,
            "appliedOffset": state.applied_offset,
            "currentVoters": None if voters is None else [{"voterId": v.voter_id} for v in voters],
        }
    else:
        written = {**common, "votedDirectoryId": uuid_to_text(state.voted_directory_id)}
    return json.dumps(written | {"data_version": version}, separators=(",", ":"))


def quorum_state_from_json(text: str) -> tuple[QuorumStateData, int]:
    """The state and its version. Raises ProtocolError for a file that Kafka would reject."""
    try:
        written = json.loads(text)
        version = written["data_version"]
        state = _state(written, version)
        # A value of the wrong type or out of range cannot be encoded.
        state.encode(version)
    except (ValueError, KeyError, TypeError, RecursionError, ProtocolError) as error:
        raise ProtocolError(f"the quorum state cannot be read: {error!r}") from error
    return state, version


def _state(written: dict[str, Any], version: int) -> QuorumStateData:
    state = QuorumStateData(
        leader_id=written["leaderId"],
        leader_epoch=written["leaderEpoch"],
        voted_id=written["votedId"],
    )
    if version == 0:
        voters = written["currentVoters"]
        state.cluster_id = written["clusterId"]
        state.applied_offset = written["appliedOffset"]
        state.current_voters = voters and [Voter(voter_id=voter["voterId"]) for voter in voters]
    else:
        state.voted_directory_id = uuid_from_text(written["votedDirectoryId"])
    return state
