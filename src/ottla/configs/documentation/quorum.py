"""What the broker configs mean: what a node is, the quorum and its metadata log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

QUORUM_TEXTS: Final[Mapping[str, str]] = {
    "broker.heartbeat.interval.ms": (
        "How often the broker sends a heartbeat to the controller, in milliseconds."
    ),
    "broker.id": "Older name of node.id. If both are set, they must be equal.",
    "broker.rack": (
        "Rack or availability zone of the broker. Replicas are spread over racks, and consumers "
        "can fetch from a replica in their own rack."
    ),
    "broker.session.timeout.ms": (
        "Time without a heartbeat after which the controller fences a broker, in milliseconds: "
        "other replicas become leaders."
    ),
    "controlled.shutdown.enable": (
        "Whether a broker moves its leaderships to other brokers before it stops. Ottla always "
        "does."
    ),
    "controller.listener.names": (
        "Names of the controllers' listeners, separated by commas. Brokers and controllers "
        "connect to controllers through the first one."
    ),
    "controller.performance.always.log.threshold.ms": (
        "Controller events that take longer than this are logged as slow, in milliseconds."
    ),
    "controller.performance.sample.period.ms": (
        "How often the controller logs a summary of its slow events, in milliseconds."
    ),
    "controller.quorum.append.linger.ms": (
        "How long the leader of the quorum collects metadata records before it writes them to "
        "disk, in milliseconds. Ottla writes at once and combines what arrives during a write."
    ),
    "controller.quorum.auto.join.enable": (
        "Whether a controller that is not a voter adds itself to the voters of the quorum when "
        "it starts. With Ottla, add it with `ottla quorum`."
    ),
    "controller.quorum.bootstrap.servers": (
        "Addresses of controllers, as HOST:PORT, separated by commas, through which a node "
        "finds the quorum. For quorums whose voters can change (KIP-853)."
    ),
    "controller.quorum.election.backoff.max.ms": (
        "Upper limit of the random wait between two elections without a winner, in milliseconds."
    ),
    "controller.quorum.election.timeout.ms": (
        "How long a candidate waits for votes before it starts another election, in milliseconds."
    ),
    "controller.quorum.fetch.max.bytes": (
        "Largest amount of metadata records that a node fetches from the leader of the quorum "
        "at once, in bytes. A larger batch is fetched nevertheless."
    ),
    "controller.quorum.fetch.snapshot.max.bytes": (
        "Largest part of a metadata snapshot that a node fetches from the leader of the quorum "
        "at once, in bytes."
    ),
    "controller.quorum.fetch.timeout.ms": (
        "Time after which a voter that cannot fetch from the leader starts an election, and a "
        "leader from which no majority fetches resigns, in milliseconds."
    ),
    "controller.quorum.request.timeout.ms": (
        "How long a node waits for the response of a controller, in milliseconds."
    ),
    "controller.quorum.retry.backoff.ms": (
        "How long a node waits before it repeats a request to a controller that failed, in "
        "milliseconds."
    ),
    "controller.quorum.voters": (
        "Voters of a quorum whose members never change, as ID@HOST:PORT, separated by commas. "
        "Prefer controller.quorum.bootstrap.servers for new clusters."
    ),
    "initial.broker.registration.timeout.ms": (
        "How long a starting broker tries to register with the controller before it gives up, "
        "in milliseconds. Ottla tries until it is stopped."
    ),
    "internal.metadata.delete.delay.millis": (
        "How long files of the metadata log stay on disk after they were removed from the log, "
        "in milliseconds. For tests."
    ),
    "internal.metadata.log.segment.bytes": (
        "Size at which a segment of the metadata log is rolled, in bytes, below the minimum of "
        "metadata.log.segment.bytes. For tests."
    ),
    "internal.metadata.max.batch.size.in.bytes": (
        "Largest batch of metadata records, in bytes. For tests."
    ),
    "metadata.log.dir": (
        "Directory of the metadata log. The default is the first directory of log.dirs."
    ),
    "metadata.log.max.record.bytes.between.snapshots": (
        "Number of bytes of metadata records after which a node writes a snapshot. Ottla writes "
        "one earlier if that makes its start faster."
    ),
    "metadata.log.max.snapshot.interval.ms": (
        "Longest time between two metadata snapshots if there are new records, in milliseconds; "
        "0 is no limit. Ottla considers only the amount of records."
    ),
    "metadata.log.segment.bytes": (
        "Size at which a segment of the metadata log is rolled, in bytes."
    ),
    "metadata.log.segment.ms": (
        "Age at which a segment of the metadata log is rolled even if it is not full, in "
        "milliseconds."
    ),
    "metadata.max.idle.interval.ms": (
        "How often the active controller writes an empty record if there is nothing else to "
        "write, in milliseconds; 0 is never. Ottla writes none."
    ),
    "metadata.max.retention.bytes": (
        "Size of the metadata log and its snapshots above which old ones are deleted, in bytes. "
        "Ottla deletes what a newer snapshot replaces."
    ),
    "metadata.max.retention.ms": (
        "Age above which old segments and snapshots of the metadata log are deleted, in "
        "milliseconds. Ottla deletes what a newer snapshot replaces."
    ),
    "node.id": (
        "Number of the node in the cluster. Each broker and each controller has its own; it "
        "never changes."
    ),
    "process.roles": (
        "Roles of the node: a broker stores and serves partitions, a controller is a member of "
        "the quorum that manages the cluster. A node can have both."
    ),
    "server.max.startup.time.ms": (
        "How long Kafka waits for each step of its start before it gives up, in milliseconds. "
        "For tests."
    ),
    "unstable.api.versions.enable": (
        "Whether the node offers versions of APIs that are still under development. For tests."
    ),
    "unstable.feature.versions.enable": (
        "Whether the node offers metadata and feature versions that are still under "
        "development. For tests."
    ),
}
