"""The parts of a broker, created in dependency order.

Only the node and tests use the whole `Broker`. A request handler names the parts it needs as
keyword-only parameters (network/handling.py); a part receives its dependencies through its
constructor.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import ottla.broker.handlers
from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.authentication import Authentication
from ottla.broker.control.authorizer import Authorizer
from ottla.broker.control.broker_connector import BrokerConnector
from ottla.broker.control.broker_peers import BrokerPeers
from ottla.broker.control.cluster_features import ClusterFeatures
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.control.departures import Departures
from ottla.broker.control.leader_changes import LeaderChanges
from ottla.broker.control.producer_ids import ProducerIds
from ottla.broker.control.sasl_servers import make_sasl_servers
from ottla.broker.control.suspects import Suspects
from ottla.broker.control.tenancy import Tenancy
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.coordinators import Coordinators
from ottla.broker.coordinators.group_coordinators import GroupCoordinators
from ottla.broker.coordinators.marker_appending import MarkerAppender
from ottla.broker.coordinators.share_coordinators import ShareCoordinators
from ottla.broker.coordinators.transaction_coordinators import TransactionCoordinators
from ottla.broker.delaying.delays import Delays
from ottla.broker.fetching.consumer_fetch import ConsumerFetches
from ottla.broker.fetching.fetch_session_cache import FetchSessionCache
from ottla.broker.fetching.follower_fetch import FollowerFetches
from ottla.broker.fetching.warm_up import WarmUp
from ottla.broker.host_seams import HostSeams
from ottla.broker.network.certificate_watch import CertificateWatch
from ottla.broker.network.connection import ClientConnection
from ottla.broker.network.connection_limits import ConnectionLimits
from ottla.broker.network.connections import Connections
from ottla.broker.network.failed_logins import FailedLogins
from ottla.broker.network.fair_turns import FairTurns
from ottla.broker.network.handling import HandledApi, handled_apis
from ottla.broker.network.listener_counters import ListenerCounters
from ottla.broker.network.listeners import ListenerAccesses
from ottla.broker.network.request_metrics import RequestMetrics
from ottla.broker.network.tenant_door import TenantListeners
from ottla.broker.producing.appending import Appending
from ottla.broker.producing.opened_produce import Openings
from ottla.broker.producing.owner_limits import OwnerLimits
from ottla.broker.producing.transactional_produce import TransactionalProduces
from ottla.broker.quotas.client_quotas import ClientQuotas
from ottla.broker.replicas.local_replicas import LocalReplicas
from ottla.broker.replicas.log_moves import LogMoves
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.broker.replicas.replication import Replication
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.broker.transactions.transaction_requests import TransactionRequests
from ottla.broker.transactions.transaction_verification import TransactionVerification
from ottla.broker.transactions.verification_requests import VerificationRequest
from ottla.broker.validation.validations import Validations
from ottla.channels import ChannelSecurity
from ottla.configs import NodeConfig
from ottla.controller.bootstrap import read_bootstrap_records
from ottla.controller.logged_users import LoggedUsers
from ottla.controller.quorum_seams import Seams
from ottla.controller.service import ControllerService
from ottla.metadata import MetadataDelta
from ottla.metrics import Metrics
from ottla.metrics.table.requests import AUTHENTICATIONS
from ottla.metrics.table.storage import LOG_FLUSH_SECONDS
from ottla.model import NodeId
from ottla.replication.partitions import Partitions
from ottla.runtime.tasks import Tasks
from ottla.security.sasl.oauthbearer import TokenVerifier
from ottla.storage.directories.log_store import LogStore
from ottla.storage.log.group_commit import GroupCommit
from ottla.storage.log.log import Log
from ottla.wire.apis import ApiKey

if TYPE_CHECKING:
    from ottla.broker.control.audit_log import AuditLog
    from ottla.broker.control.token_keys import TokenVerifiers
    from ottla.broker.sharing.sharing import Sharing
    from ottla.broker.telemetry.client_telemetry import ClientTelemetry
    from ottla.broker.transactions.local_verification import LocalVerification
    from ottla.coordinator.groups.coordinator import GroupCoordinator
    from ottla.coordinator.transactions.coordinator import TransactionCoordinator

# The client was refused before it had chosen a SASL mechanism.
_NO_MECHANISM: Final = "none"


class Broker:
    """Created by the node, which also starts and stops its parts. Owned by the node's loop."""

    def __init__(
        self,
        config: NodeConfig,
        world: HostSeams,
        service: ControllerService,
        controller: ActiveController,
        logs: LogStore,
        tasks: Tasks,
        metrics: Metrics,
        to_brokers: ChannelSecurity,
    ) -> None:
        self.clock = clock = world.clock
        self.dice = dice = world.dice
        self.background = background = world.background
        self.busy_poll = world.busy_poll
        self.tasks = tasks
        self._seams = Seams(world.disk, clock, dice, background, tasks)
        self.metrics = metrics
        self._to_brokers = to_brokers
        # `service` is this process's controller; `controller` reaches the active one on any node.
        self.service = service
        self.controller = controller
        quorum = service.controller.quorum
        self.metadata = quorum.metadata
        self.cluster = cluster = ClusterView(
            NodeId(config.node_id),
            config,
            quorum.metadata,
            cluster_id=service.controller.cluster_id,
        )
        self.features = ClusterFeatures(cluster, quorum)
        self.leader_changes = LeaderChanges(clock)
        self.suspects = Suspects(clock, self.leader_changes)
        self.departures = Departures(clock, session_timeout_ms=config.broker_session_timeout_ms)
        self.metadata.listen(self._metadata_changed)
        self.producer_ids = ProducerIds(cluster, controller, tasks)
        connector = BrokerConnector(cluster, world.network, clock, dice, tasks, to_brokers)
        self.peers = BrokerPeers(connector)

        self.logs = logs
        self.partitions = partitions = Partitions(lambda: cluster.image.topics)
        self.commit = commit = self._make_commit()
        commit.listen(self._log_synced)
        self.failures = failures = StorageFailures(logs, partitions, clock)
        self.replication = Replication(
            cluster, controller, connector, partitions, commit, failures, clock, dice, tasks
        )
        self.log_moves = LogMoves(
            cluster, controller, clock, dice, tasks, background, logs, partitions, commit, failures
        )
        self.replicas = LocalReplicas(
            cluster,
            controller,
            clock,
            dice,
            tasks,
            background,
            logs,
            partitions,
            self.replication,
            self.log_moves,
            failures,
        )
        self.changes = MetadataChanges(controller, self.replicas)
        self._make_coordinators()
        self._make_data_path()
        self._make_network(world)

    def _make_commit(self) -> GroupCommit:
        return GroupCommit(
            self.background,
            self.tasks,
            monotonic=self.clock.monotonic,
            on_timed=self.metrics.histogram(LOG_FLUSH_SECONDS).record,
        )

    def _make_coordinators(self) -> None:
        groups = GroupCoordinators(self.cluster, self.commit, self.failures, self._seams)
        self.markers = MarkerAppender(self.partitions, self.commit, self.failures, groups.shards)
        transactions = TransactionCoordinators(
            self.cluster,
            self.peers,
            self.markers,
            self.producer_ids,
            self.commit,
            self.failures,
            self.clock,
            self.dice,
            self.tasks,
            self.background,
            self.metrics,
        )
        shares = ShareCoordinators(
            self.cluster, self.partitions, self.commit, self.failures, self._seams
        )
        self.coordinators = Coordinators(groups, transactions, shares)
        self.delays = Delays(self.failures, self._seams, self.metrics)
        self.replication.listen(self.coordinators, self.delays)
        self.transaction_requests = TransactionRequests(transactions.shards, self.clock)
        self.verification = TransactionVerification(
            self.cluster,
            self.clock,
            self.tasks,
            self.peers,
            self.metrics,
            transactions.shards,
            self._verify_here,
        )

    def _make_data_path(self) -> None:
        self.transactional_produces = TransactionalProduces(
            self.cluster, self.transactions, self.verification, self.partitions, self.clock
        )
        self.validations = Validations(
            self.cluster,
            self.partitions,
            self.peers,
            self.commit,
            self.failures,
            self.metrics,
            self._seams,
        )
        self.openings = Openings(self.partitions, self._seams, self.validations)
        self.appending = Appending(
            self.cluster,
            self.partitions,
            self.commit,
            self.failures,
            self.transactional_produces,
            self.openings,
            self.validations,
            self.clock,
        )
        warm_up = WarmUp(self.tasks, self.background)
        self.fetch_sessions = FetchSessionCache(
            self.clock,
            self.dice,
            sessions_max=self.config.max_incremental_fetch_session_cache_slots,
            partitions_here=lambda: len(self.partitions),
        )
        self.consumer_fetches = ConsumerFetches(
            self.cluster, self.partitions, self.failures, warm_up, self.clock
        )
        self.follower_fetches = FollowerFetches(
            self.partitions, self.replication.leader_throttle, self.failures, warm_up, self.clock
        )

    def _make_network(self, world: HostSeams) -> None:
        self.authorizer = Authorizer(self.metadata, self.config)
        self.request_metrics = RequestMetrics(self.metrics)
        self.connections = Connections()
        self.connection_limits = ConnectionLimits(
            self.cluster,
            self.connections,
            self.clock,
            connections_max=world.connections_max,
        )
        self.tenants = TenantListeners(Tenancy(self.cluster, self.dice), self.clock, self.tasks)
        self.owner_limits = OwnerLimits(
            self.cluster, self.tenants.tenancy, self.groups, self.partitions, self.clock
        )
        self.turns = FairTurns(self.clock)
        of_mutations = self.service.controller.mutation_quotas.meters
        self.client_quotas = ClientQuotas(self.cluster, self.clock, of_mutations)
        self._failed_logins = FailedLogins(self.clock)
        self.audit_log = self._open_audit_log()
        if self.audit_log is not None:
            self.authorizer.on_decision = self.audit_log.decided
        users = LoggedUsers(
            self.metadata,
            lambda: read_bootstrap_records(world.disk, self.config.metadata_log_dir),
        )
        self.listeners = ListenerAccesses(
            self.cluster,
            make_sasl_servers(self.cluster, users.credential, self.dice),
            self.authorizer.rights_of,
            self._token_verifier,
            self._authenticated,
        )
        self.certificates = CertificateWatch(
            self.cluster,
            self.clock,
            self.listeners,
            to_brokers=self._to_brokers,
            to_controllers=self.controller.security,
        )
        self.apis: dict[int, HandledApi] = handled_apis(
            ottla.broker.handlers, self, has_unstable=self.config.unstable_api_versions_enable
        )
        if not self.config.has_metrics:
            # Hidden, as Kafka hides them if nothing receives the metrics of clients.
            for key in (ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY):
                del self.apis[key]

    @cached_property
    def controller_apis(self) -> dict[int, HandledApi]:
        from ottla.broker.controller_apis import controller_apis

        return controller_apis(self)

    @cached_property
    def local_verification(self) -> LocalVerification:
        # Imported with the first transaction, like the transaction coordinator.
        from ottla.broker.transactions.local_verification import LocalVerification

        return LocalVerification(self.transactions, self.transaction_requests)

    @cached_property
    def sharing(self) -> Sharing:
        from ottla.broker.sharing.sharing import Sharing  # with the first share group

        return Sharing(
            self.cluster,
            self.partitions,
            self.replication,
            self.coordinators.shares,
            self.changes,
            self.peers,
            self.commit,
            self.failures,
            self.metrics,
            self._seams,
        )

    def _open_audit_log(self) -> AuditLog | None:
        if not self.config.audit_log:
            return None
        # Imported only by a node that has one.
        from ottla.broker.control.audit_log import open_audit_log

        return open_audit_log(self.config.audit_log, self.config, self._seams)

    def _token_verifier(self, listener: str) -> TokenVerifier | None:
        security = self.config.listener_security[listener]
        if security.sasl is None or security.sasl.oauth is None:
            return None
        return self.token_verifiers.of(listener)

    @cached_property
    def token_verifiers(self) -> TokenVerifiers:
        # Imported only by a node that accepts tokens.
        from ottla.broker.control.token_keys import TokenVerifiers

        return TokenVerifiers(self.cluster, self._seams)

    @cached_property
    def client_telemetry(self) -> ClientTelemetry:
        # Imported only by a node whose metrics are read.
        from ottla.broker.telemetry.client_telemetry import ClientTelemetry

        return ClientTelemetry(self.cluster, self.clock, self.dice, self.background, self.metrics)

    @property
    def config(self) -> NodeConfig:
        return self.cluster.config

    @property
    def groups(self) -> CoordinatorShards[GroupCoordinator]:
        return self.coordinators.groups

    @property
    def transactions(self) -> CoordinatorShards[TransactionCoordinator]:
        return self.coordinators.transactions

    def client_connection(self, listener: str, *, is_controller: bool) -> ClientConnection:
        """Creates the handler of a new connection on `listener`."""
        return ClientConnection(
            listener,
            self.controller_apis if is_controller else self.tenants.apis(listener, self.apis),
            self.connections,
            self.connection_limits,
            self.clock,
            self.tasks,
            self.listeners.of(listener),
            ListenerCounters.of(self.metrics, listener, measures_requests=self.config.has_metrics),
            self.client_quotas,
            self.turns,
            self.tenants.door(listener),
            self.owner_limits.users,
            request_bytes_max=self.config.socket_request_max_bytes,
        )

    def _authenticated(self, outcome: Authentication) -> None:
        self._failed_logins.report(outcome)
        result = "succeeded" if outcome.failure is None else "failed"
        labels = outcome.listener, outcome.mechanism or _NO_MECHANISM, result
        self.metrics.counter(AUTHENTICATIONS, *labels).add()
        if self.audit_log is not None:
            self.audit_log.authenticated(outcome)

    def _verify_here(self, request: VerificationRequest) -> None:
        self.local_verification.verify(request)

    def _metadata_changed(self, delta: MetadataDelta) -> None:
        self.departures.apply(delta, self.cluster.image)
        if delta.partitions_changed or delta.brokers_changed:
            self.leader_changes.notify()

    def _log_synced(self, log: Log) -> None:
        partition = self.partitions.get(log.partition)
        if partition is not None and partition.log is log:
            partition.log_synced()
