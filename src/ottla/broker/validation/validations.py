"""Starts the validation with the first batch of a topic with schema rules: it needs packages that a
node without such topics may lack."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ottla.broker.control.broker_peers import BrokerPeers
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.controller.quorum_seams import Seams
from ottla.metrics import Metrics
from ottla.model import ErrorCode, KafkaError
from ottla.replication.partitions import Partitions
from ottla.schemas.packages import missing_packages, missing_text
from ottla.schemas.rules import SchemaRules
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

    def by(self, rules: SchemaRules) -> SchemaValidation:
        """Raises INVALID_CONFIG if packages are missing."""
        if missing := missing_packages(rules):
            raise KafkaError(ErrorCode.INVALID_CONFIG, missing_text(missing))
        return self._validation

    @cached_property
    def _validation(self) -> SchemaValidation:
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
        return SchemaValidation(logs, seams.background, seams.clock)
