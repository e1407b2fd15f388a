"""Features and their levels (KIP-584): those that Ottla supports, and the initial ones of a
cluster.

They are those of Kafka 4.3.1, and share.version 2; its initial levels are all stable.
`metadata.version` determines the versions in which records are written; 7 (3.3-IV3) is the lowest
that Kafka 4 reads.
"""

from __future__ import annotations

from typing import Final

from ottla.metadata.broker import VersionRange

METADATA_VERSION: Final = "metadata.version"
KRAFT_VERSION: Final = "kraft.version"
TRANSACTION_VERSION: Final = "transaction.version"
SHARE_VERSION: Final = "share.version"
ELIGIBLE_LEADER_REPLICAS_VERSION: Final = "eligible.leader.replicas.version"

SUPPORTED_FEATURES: Final = {
    "group.version": VersionRange(0, 1),
    KRAFT_VERSION: VersionRange(0, 1),
    METADATA_VERSION: VersionRange(7, 30),
    # Level 2 (KIP-1191, dead letters) is that of Kafka 4.4.
    SHARE_VERSION: VersionRange(0, 2),
    "streams.version": VersionRange(0, 1),
    TRANSACTION_VERSION: VersionRange(0, 2),
    ELIGIBLE_LEADER_REPLICAS_VERSION: VersionRange(0, 1),
}

# In the order in which Kafka writes them when it formats a directory. kraft.version is not among
# them: it is in a control record.
INITIAL_LEVELS: Final = {
    METADATA_VERSION: 30,
    ELIGIBLE_LEADER_REPLICAS_VERSION: 1,
    "group.version": 1,
    SHARE_VERSION: 1,
    "streams.version": 1,
    TRANSACTION_VERSION: 2,
}
KRAFT_VERSION_LEVEL: Final = 1

# The minimum levels of other features that a feature level requires.
DEPENDENCIES: Final = {(ELIGIBLE_LEADER_REPLICAS_VERSION, 1): {METADATA_VERSION: 23}}

# The levels of metadata.version from which the metadata log may have SCRAM credentials (KIP-900)
# and delegation tokens.
SCRAM_LEVEL: Final = 11
DELEGATION_TOKEN_LEVEL: Final = 14

# The names of the levels of metadata.version from 7 on, and the levels that changed the records: a
# downgrade below such a level would lose metadata.
METADATA_VERSION_NAMES: Final = dict(
    enumerate(
        [
            "3.3-IV3",
            "3.4-IV0",
            *("3.5-IV0", "3.5-IV1", "3.5-IV2"),
            *("3.6-IV0", "3.6-IV1", "3.6-IV2"),
            *("3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4"),
            "3.8-IV0",
            "3.9-IV0",
            *("4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3"),
            *("4.1-IV0", "4.1-IV1"),
            *("4.2-IV0", "4.2-IV1"),
            "4.3-IV0",
        ],
        start=SUPPORTED_FEATURES[METADATA_VERSION].min_supported_version,
    )
)
METADATA_CHANGING_LEVELS: Final = frozenset({7, 8, 11, 13, 14, 15, 17, 23, 30})
