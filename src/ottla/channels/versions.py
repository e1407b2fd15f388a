"""The request versions that Ottla's nodes use among themselves.

All nodes of a cluster support them, so no node sends ApiVersions first. A version is raised here
when the oldest release that may be part of the same cluster supports the new one.
"""

from __future__ import annotations

from typing import Final

API_VERSIONS: Final = 4
PRODUCE: Final = 13
FETCH: Final = 18
LIST_OFFSETS: Final = 9
OFFSET_FOR_LEADER_EPOCH: Final = 4
ALTER_PARTITION: Final = 3
BROKER_REGISTRATION: Final = 4
BROKER_HEARTBEAT: Final = 2
ALLOCATE_PRODUCER_IDS: Final = 0
ASSIGN_REPLICAS_TO_DIRS: Final = 0
CONTROLLER_REGISTRATION: Final = 0
ENVELOPE: Final = 0
CREATE_TOPICS: Final = 7
DELETE_TOPICS: Final = 6
VOTE: Final = 2
BEGIN_QUORUM_EPOCH: Final = 1
END_QUORUM_EPOCH: Final = 1
FETCH_SNAPSHOT: Final = 1
UPDATE_RAFT_VOTER: Final = 0
ADD_PARTITIONS_TO_TXN: Final = 5
WRITE_TXN_MARKERS: Final = 2
INITIALIZE_SHARE_GROUP_STATE: Final = 0
READ_SHARE_GROUP_STATE: Final = 0
WRITE_SHARE_GROUP_STATE: Final = 1
DELETE_SHARE_GROUP_STATE: Final = 0
READ_SHARE_GROUP_STATE_SUMMARY: Final = 1
