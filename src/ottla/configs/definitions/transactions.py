"""Transactions and idempotent producers."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import CLUSTER_WIDE, HIGH, INTERNAL, LOW, boolean, int16, int32
from ottla.configs.status import WITHOUT_EFFECT
from ottla.configs.validators import at_least

TRANSACTIONS_CONFIGS: Final = (
    int32("add.partitions.to.txn.retry.backoff.max.ms", 100, at_least(0), HIGH),
    int32("add.partitions.to.txn.retry.backoff.ms", 20, at_least(1), HIGH),
    int32("producer.id.expiration.check.interval.ms", 600_000, at_least(1), LOW, INTERNAL),
    int32("producer.id.expiration.ms", 86_400_000, at_least(1), LOW, CLUSTER_WIDE),
    int32(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        10_000,
        at_least(1),
        LOW,
        WITHOUT_EFFECT,
    ),
    int32("transaction.max.timeout.ms", 900_000, at_least(1), HIGH),
    boolean("transaction.partition.verification.enable", True, LOW, CLUSTER_WIDE),
    int32(
        "transaction.remove.expired.transaction.cleanup.interval.ms", 3_600_000, at_least(1), LOW
    ),
    int32("transaction.state.log.load.buffer.size", 5_242_880, at_least(1), HIGH),
    int32("transaction.state.log.min.isr", 2, at_least(1), HIGH),
    int32("transaction.state.log.num.partitions", 50, at_least(1), HIGH),
    int16("transaction.state.log.replication.factor", 3, at_least(1), HIGH),
    int32("transaction.state.log.segment.bytes", 104_857_600, at_least(1), HIGH),
    boolean("transaction.two.phase.commit.enable", False, LOW),
    int32("transactional.id.expiration.ms", 604_800_000, at_least(1), HIGH),
)
