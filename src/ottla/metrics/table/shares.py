"""Share groups."""

from __future__ import annotations

from typing import Final

from ottla.metrics.family import counter, gauge

SHARE_SESSIONS: Final = gauge(
    "ottla_share_sessions",
    "Share sessions of share consumers with this node.",
    kafka="kafka.server:type=ShareSessionCache,name=ShareSessionsCount",
)
SHARE_SESSION_PARTITIONS: Final = gauge(
    "ottla_share_session_partitions",
    "Partitions in the share sessions with this node.",
    kafka="kafka.server:type=ShareSessionCache,name=SharePartitionsCount",
)
SHARE_PARTITIONS: Final = gauge(
    "ottla_share_partitions",
    "Partitions led by this node that share groups consume, counted once for each group.",
)
SHARE_IN_FLIGHT_RECORDS: Final = gauge(
    "ottla_share_in_flight_records",
    "Records between the start offset and the end of what was delivered, by share group, topic and "
    "partition. Exported by the partition's leader.",
    "group",
    "topic",
    "partition",
    kafka="kafka.server:type=SharePartitionMetrics,name=InFlightMessageCount,group=*,topic=*,"
    "partition=*",
)
SHARE_ACQUIRED_RECORDS: Final = counter(
    "ottla_share_acquired_records_total",
    "Records that were delivered to members of share groups, each delivery counted.",
)
SHARE_ACKNOWLEDGED_RECORDS: Final = counter(
    "ottla_share_acknowledged_records_total",
    "Records that members of share groups acknowledged, by type: gap, accept, release, reject or "
    "renew.",
    "type",
    kafka="kafka.server:type=ShareGroupMetrics,name=RecordAcknowledgementsPerSec,ackType=*",
)
SHARE_REFUSED_ACKNOWLEDGEMENTS: Final = counter(
    "ottla_share_refused_acknowledgements_total",
    "Acknowledgements of a partition that were refused, for example because the lock had ended.",
    kafka="kafka.server:type=BrokerTopicMetrics,name=FailedShareAcknowledgementRequestsPerSec",
)
SHARE_EXPIRED_RECORDS: Final = counter(
    "ottla_share_expired_records_total",
    "Records whose lock ended before they were acknowledged.",
    kafka="kafka.server:type=SharePartitionMetrics,name=AcquisitionLockTimeoutPerSec,group=*,"
    "topic=*,partition=*",
)

SHARE_DEAD_LETTERS: Final = counter(
    "ottla_share_dead_letters_total",
    "Records that share groups gave up and that were written to a dead letter topic, by cause: "
    "rejected or limit.",
    "cause",
)

SHARE_REDRIVEN: Final = counter(
    "ottla_share_redriven_dead_letters_total",
    "Dead letters that `ottla shares redrive` sent back. Exported by the coordinator of the "
    "consumer group that stores its progress.",
)

SHARE_FAMILIES: Final = (
    SHARE_SESSIONS,
    SHARE_SESSION_PARTITIONS,
    SHARE_PARTITIONS,
    SHARE_IN_FLIGHT_RECORDS,
    SHARE_ACQUIRED_RECORDS,
    SHARE_ACKNOWLEDGED_RECORDS,
    SHARE_REFUSED_ACKNOWLEDGEMENTS,
    SHARE_EXPIRED_RECORDS,
    SHARE_DEAD_LETTERS,
    SHARE_REDRIVEN,
)
