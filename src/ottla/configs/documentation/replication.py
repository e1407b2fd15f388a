"""What the broker configs mean: replication and leadership."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

REPLICATION_TEXTS: Final[Mapping[str, str]] = {
    "auto.leader.rebalance.enable": (
        "Whether the controller moves leadership back to the preferred replicas now and then. "
        "The preferred replica is the first one in a partition's assignment."
    ),
    "controller.socket.timeout.ms": (
        "Socket timeout of connections to the controller, in milliseconds. In Ottla, "
        "controller.quorum.request.timeout.ms applies."
    ),
    "default.replication.factor": (
        "Number of replicas of a new topic's partitions, where the client does not say how many."
    ),
    "delete.records.purgatory.purge.interval.requests": (
        "Number of completed DeleteRecords requests after which Kafka removes them from its "
        "memory. Ottla removes each at once."
    ),
    "fetch.purgatory.purge.interval.requests": (
        "Number of completed fetch requests after which Kafka removes them from its memory. "
        "Ottla removes each at once."
    ),
    "follower.fetch.last.tiered.offset.enable": (
        "Whether an empty follower of a topic in tiered storage begins at the last offset that "
        "was copied to remote storage."
    ),
    "leader.imbalance.check.interval.seconds": (
        "How often the controller looks for partitions that are not led by their preferred "
        "replica, in seconds."
    ),
    "num.replica.fetchers": (
        "Number of connections through which a broker fetches from each other broker. Ottla "
        "uses one."
    ),
    "producer.purgatory.purge.interval.requests": (
        "Number of completed produce requests after which Kafka removes them from its memory. "
        "Ottla removes each at once."
    ),
    "replica.fetch.backoff.ms": (
        "Longest time that a follower waits before it repeats a fetch that failed, in milliseconds."
    ),
    "replica.fetch.max.bytes": (
        "Largest amount of records that a follower fetches of one partition at once, in bytes. "
        "A larger batch is fetched nevertheless."
    ),
    "replica.fetch.min.bytes": (
        "Number of bytes for which the leader waits before it responds to the fetch of a "
        "follower. replica.fetch.wait.max.ms limits the wait."
    ),
    "replica.fetch.response.max.bytes": (
        "Largest response to a follower's fetch, in bytes. A larger batch is fetched nevertheless."
    ),
    "replica.fetch.wait.max.ms": (
        "Longest time that the leader waits for replica.fetch.min.bytes, in milliseconds. It "
        "must not be more than replica.lag.time.max.ms."
    ),
    "replica.high.watermark.checkpoint.interval.ms": (
        "How often the broker writes the high watermarks of its partitions to disk, in "
        "milliseconds. Ottla writes them together with the recovery points."
    ),
    "replica.lag.time.max.ms": (
        "Time after which a follower that has not caught up with the leader is removed from the "
        "in-sync replicas, in milliseconds."
    ),
    "replica.selector.class": (
        "Java class that chooses the replica from which a consumer fetches. Ottla knows "
        "org.apache.kafka.common.replica.RackAwareReplicaSelector, by which consumers fetch in "
        "their own rack; with any other value, consumers fetch from the leader."
    ),
    "replica.socket.receive.buffer.bytes": (
        "Size of the receive buffer of a follower's socket (SO_RCVBUF), in bytes. Ottla leaves "
        "the size to the operating system."
    ),
    "replica.socket.timeout.ms": (
        "How long a follower waits for the response to a fetch before it closes the connection, "
        "in milliseconds. It must not be less than replica.fetch.wait.max.ms."
    ),
    "unclean.leader.election.enable": (
        "Default of the topic config of the same name: whether a replica that is not in sync "
        "may become leader when no other is left. The partition is available again, and records "
        "may be lost."
    ),
    "unclean.leader.election.interval.ms": (
        "How often the controller looks for partitions without a leader that need an unclean "
        "election, in milliseconds."
    ),
}
