"""Starts the validation with the first batch of a topic with schema rules: it needs packages that a
node without such topics may lack."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ottla.broker.control.broker_peers import BrokerPeers, PeerLane
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.leader_appends import LeaderAppends
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.broker.validation.set_asides import SetAside, SetAsides, Written
from ottla.controller.quorum_seams import Seams
from ottla.metrics import Metrics
from ottla.model import ErrorCode, KafkaError
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from ottla.schemas.packages import missing_packages, missing_text
from ottla.storage.log.append_result import AppendResult
from ottla.storage.log.group_commit import GroupCommit

if TYPE_CHECKING:
    from ottla.broker.validation.validation import SchemaValidation


class Validations:
    """Owned by the node's loop."""

    def __init__(
        self,
        cluster: ClusterView,
        partitions: Partitions,
        peers: BrokerPeers,
        commit: GroupCommit,
        failures: StorageFailures,
        metrics: Metrics,
        seams: Seams,
    ) -> None:
        self._cluster = cluster
        self._partitions = partitions
        self._peers = peers
        self._commit = commit
        self._failures = failures
        self._metrics = metrics
        self._seams = seams

    def deliver(
        self, partition: Partition, letter: SetAside, result: AppendResult, written: Written
    ) -> None:
        """Writes a batch to its dead letter topic and calls `written` once."""
        self.validation.set_asides.deliver(partition, letter, result, written)

    @cached_property
    def validation(self) -> SchemaValidation:
        """Raises INVALID_CONFIG if packages are missing."""
        if missing := missing_packages():
            raise KafkaError(ErrorCode.INVALID_CONFIG, missing_text(missing))
        from ottla.broker.validation.schema_logs import SchemaLogs
        from ottla.broker.validation.validation import SchemaValidation

        seams = self._seams
        logs = SchemaLogs(
            self._cluster,
            self._partitions,
            self._peers,
            self._failures,
            seams.background,
            seams.clock,
            seams.tasks,
        )
        appends = LeaderAppends(
            self._cluster,
            self._partitions,
            self._peers,
            self._commit,
            self._failures,
            seams,
            PeerLane.DEAD_LETTERS,
        )
        set_asides = SetAsides(
            self._cluster, appends, self._commit, self._failures, self._metrics, seams
        )
        return SchemaValidation(logs, set_asides, self._metrics, seams.background, seams.clock)
