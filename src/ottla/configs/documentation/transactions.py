"""What the broker configs mean: transactions and idempotent producers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TRANSACTIONS_TEXTS: Final[Mapping[str, str]] = {
    "add.partitions.to.txn.retry.backoff.max.ms": (
        "How long the broker waits in total for the end of the previous transaction before it "
        "responds with CONCURRENT_TRANSACTIONS to a producer that adds partitions, in "
        "milliseconds."
    ),
    "add.partitions.to.txn.retry.backoff.ms": (
        "How long the broker waits before it tries again to add partitions while the previous "
        "transaction ends, in milliseconds."
    ),
    "producer.id.expiration.check.interval.ms": (
        "How often the broker looks for producer ids that have expired, in milliseconds."
    ),
    "producer.id.expiration.ms": (
        "How long the leader of a partition remembers the last batches of an idempotent "
        "producer that stopped writing, in milliseconds. Until then it recognizes duplicates."
    ),
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": (
        "How often Kafka looks for transactions that have timed out, in milliseconds. Ottla "
        "aborts each when its timeout ends."
    ),
    "transaction.max.timeout.ms": (
        "Longest transaction timeout that a producer may request, in milliseconds. An open "
        "transaction blocks consumers with read_committed."
    ),
    "transaction.partition.verification.enable": (
        "Whether the leader of a partition asks the transaction coordinator if a transaction is "
        "ongoing before it appends the first batch of it. This prevents hanging transactions of "
        "older clients (KIP-890)."
    ),
    "transaction.remove.expired.transaction.cleanup.interval.ms": (
        "How often the coordinator looks for transactional ids that have expired, in milliseconds."
    ),
    "transaction.state.log.load.buffer.size": (
        "Number of bytes that the coordinator reads at once when it loads transactions from "
        "__transaction_state."
    ),
    "transaction.state.log.min.isr": (
        "min.insync.replicas of __transaction_state when that topic is created, at most its "
        "number of replicas."
    ),
    "transaction.state.log.num.partitions": (
        "Number of partitions of __transaction_state when that topic is created. Do not change "
        "it later: transactional ids would belong to other coordinators."
    ),
    "transaction.state.log.replication.factor": (
        "Number of replicas of __transaction_state when that topic is created. If the setting "
        "is not in the node's properties, Ottla creates no more replicas than there are "
        "brokers."
    ),
    "transaction.state.log.segment.bytes": (
        "Segment size of __transaction_state when that topic is created, in bytes."
    ),
    "transaction.two.phase.commit.enable": (
        "Whether clients may take part in two-phase commits (KIP-939), whose transactions have "
        "no timeout."
    ),
    "transactional.id.expiration.ms": (
        "How long the coordinator remembers a transactional id that is not used, in milliseconds."
    ),
}
