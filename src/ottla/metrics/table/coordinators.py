"""Groups, their committed offsets and lag, and transactions."""

from __future__ import annotations

from typing import Final

from ottla.metrics.family import counter, gauge, histogram

COORDINATOR_PARTITIONS: Final = gauge(
    "ottla_coordinator_partitions",
    "Partitions of the internal topics whose coordinator is this node, by coordinator (group, "
    "transaction or share) and state (loading or active).",
    "coordinator",
    "state",
    kafka="kafka.server:type={group,transaction}-coordinator-metrics,name=num-partitions,state=*",
)
GROUPS: Final = gauge(
    "ottla_groups",
    "Groups whose coordinator is this node, by type (Classic, Consumer or Share) and state.",
    "type",
    "state",
    kafka="kafka.server:type=group-coordinator-metrics,name=group-count,protocol=*; "
    "kafka.server:type=group-coordinator-metrics,name=consumer-group-count,state=*",
)
GROUP_MEMBERS: Final = gauge(
    "ottla_group_members",
    "Members of a group whose coordinator is this node.",
    "group",
)
GROUP_COMMITTED_OFFSET: Final = gauge(
    "ottla_group_committed_offset",
    "Offset that a group has committed, by group, topic and partition. Exported by the group's "
    "coordinator.",
    "group",
    "topic",
    "partition",
)
GROUP_LAG_RECORDS: Final = gauge(
    "ottla_group_lag_records",
    "Records between the offset that a group has committed and the high watermark of the "
    "partition. Exported by the group's coordinator, which gets the high watermark from the "
    "partition's leader; missing while that leader does not answer.",
    "group",
    "topic",
    "partition",
)
GROUP_LAG_SECONDS: Final = gauge(
    "ottla_group_lag_seconds",
    "Time since the high watermark of the partition was at the offset that the group has "
    "committed; 0 if it still is. The coordinator knows past high watermarks from earlier scrapes. "
    "After it has changed, the lag begins with the first scrape.",
    "group",
    "topic",
    "partition",
)

TRANSACTIONS: Final = gauge(
    "ottla_transactions",
    "Transactional ids whose coordinator is this node, by state of the transaction.",
    "state",
)
TRANSACTIONS_OLDEST_SECONDS: Final = gauge(
    "ottla_transactions_oldest_seconds",
    "Age of the oldest open transaction whose coordinator is this node; 0 if none is open.",
)
TRANSACTIONS_ENDED: Final = counter(
    "ottla_transactions_ended_total",
    "Transactions that have ended, by outcome (committed or aborted). Loading a coordinator counts "
    "none.",
    "outcome",
)
TRANSACTIONS_TIMED_OUT: Final = counter(
    "ottla_transactions_timed_out_total",
    "Transactions that the coordinator aborted because they were open for longer than their "
    "timeout.",
)
VERIFICATION_FAILURES: Final = counter(
    "ottla_transaction_verification_failures_total",
    "Batches of transactions that could not be verified with the coordinator (KIP-890).",
    kafka="kafka.server:type=AddPartitionsToTxnManager,name=VerificationFailureRate",
)
VERIFICATION_SECONDS: Final = histogram(
    "ottla_transaction_verification_seconds",
    "Time to verify the batches of a transaction with the coordinator (KIP-890).",
    kafka="kafka.server:type=AddPartitionsToTxnManager,name=VerificationTimeMs",
)

COORDINATOR_FAMILIES: Final = (
    COORDINATOR_PARTITIONS,
    GROUPS,
    GROUP_MEMBERS,
    GROUP_COMMITTED_OFFSET,
    GROUP_LAG_RECORDS,
    GROUP_LAG_SECONDS,
    TRANSACTIONS,
    TRANSACTIONS_OLDEST_SECONDS,
    TRANSACTIONS_ENDED,
    TRANSACTIONS_TIMED_OUT,
    VERIFICATION_FAILURES,
    VERIFICATION_SECONDS,
)
