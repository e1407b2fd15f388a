"""What the handlers of one node share: its logs and partitions, its view of the cluster."""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.broker_peers import BrokerPeers
from ottla.broker.control.departures import Departures
from ottla.broker.control.leader_changes import LeaderChanges
from ottla.broker.control.producer_ids import ProducerIds
from ottla.broker.control.suspects import Suspects
from ottla.broker.coordinators.coordinators import Coordinators
from ottla.broker.fetching.fetch_session_cache import FetchSessionCache
from ottla.broker.network.connection_limits import ConnectionLimits
from ottla.broker.network.handling import HandledApi, handled_apis
from ottla.broker.network.pending import Pending
from ottla.broker.producing.opened_produce import Openings
from ottla.broker.replicas.local_replicas import LocalReplicas
from ottla.broker.replicas.log_moves import LogMoves
from ottla.broker.replicas.replication import Replication
from ottla.broker.transactions.transaction_verification import TransactionVerification
from ottla.broker.transactions.turns import Turns
from ottla.configs import NodeConfig
from ottla.controller.service import ControllerService
from ottla.metadata import SUPPORTED_FEATURES, MetadataDelta, MetadataImage, VersionRange
from ottla.metadata.features import KRAFT_VERSION
from ottla.model import KafkaError, NodeId
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.metrics import Metrics
from ottla.runtime.network import Network
from ottla.runtime.tasks import Tasks
from ottla.runtime.vigil import NO_VIGIL, Vigil
from ottla.storage.directories.log_store import LogStore
from ottla.storage.files.file_slice import FileSlice
from ottla.storage.log.group_commit import GroupCommit
from ottla.storage.log.log import Log
from ottla.wire.messages.fetch import FetchResponse

if TYPE_CHECKING:
    from ottla.broker.network.connection import ClientConnection

_log = logging.getLogger(__name__)

# Between two words about a disk that is full.
_QUIET_SECONDS: Final = 30.0


class Broker:
    """Made by the node, which also feeds it the cluster's metadata. Owned by the node's loop."""

    def __init__(
        self,
        *,
        node_id: NodeId,
        config: NodeConfig,
        service: ControllerService,
        controller: ActiveController,
        clock: Clock,
        dice: Dice,
        tasks: Tasks,
        background: Background,
        network: Network,
        logs: LogStore,
        commit: GroupCommit,
        request_bytes_max: int,
        fetch_bytes_max: int,
        fetch_sessions_max: int,
        vigil: Vigil = NO_VIGIL,
        connections_max: int = 1 << 31,
        metrics: Metrics | None = None,
    ) -> None:
        self.node_id = node_id
        # With the dynamic configs of the image.
        self.config = config
        # The controller in this process, and the active one wherever it is.
        self.service = service
        self.controller = controller
        self.metadata = service.controller.quorum.metadata
        self.clock = clock
        self._quiet_until = 0.0
        self.dice = dice
        self.tasks = tasks
        self.vigil = vigil
        self.metrics = metrics or Metrics()
        self.logs = logs
        self.partitions = Partitions(lambda: self.image.topics)
        self.commit = commit
        self.peers = BrokerPeers(self, network)
        self.coordinators = Coordinators(self, background)
        self.verification = TransactionVerification(self)
        self.transactional_produces = Turns()
        self.openings = Openings()
        self.replication = Replication(self, network)
        self.log_moves = LogMoves(self, background)
        self.replicas = LocalReplicas(self, background)
        self.producer_ids = ProducerIds(self, tasks)
        self.fetch_sessions = FetchSessionCache(
            clock,
            dice,
            sessions_max=fetch_sessions_max,
            partitions_here=lambda: len(self.partitions),
        )
        self.request_bytes_max = request_bytes_max
        self.fetch_bytes_max = fetch_bytes_max
        self.leader_changes = LeaderChanges(clock)
        self.suspects = Suspects(clock, self.leader_changes)
        self.departures = Departures(clock, session_timeout_ms=config.broker_session_timeout_ms)
        self.metadata.listen(self._metadata_changed)
        # A dict for its order: a set would be walked in another one in each run.
        self.connections: dict[ClientConnection, None] = {}
        self.connection_limits = ConnectionLimits(self, connections_max=connections_max)
        self.apis: dict[int, HandledApi] = handled_apis(
            has_unstable=config.unstable_api_versions_enable
        )
        self.background = background
        commit.listen(self._log_synced)

    @cached_property
    def controller_apis(self) -> dict[int, HandledApi]:
        # Loaded for the first listener of a controller's: a node may have none.
        from ottla.broker.control.controller_apis import controller_apis

        return controller_apis()

    @property
    def cluster_id(self) -> str:
        return self.service.controller.cluster_id

    @property
    def image(self) -> MetadataImage:
        """The cluster as it is committed, as far as this node has heard."""
        return self.metadata.image

    @property
    def supported_features(self) -> dict[str, VersionRange]:
        return SUPPORTED_FEATURES

    @property
    def finalized_features(self) -> dict[str, int]:
        # The quorum's version is in its own records, not in the image.
        level = self.service.controller.quorum.kraft_version
        return {**self.image.features, **({KRAFT_VERSION: level} if level else {})}

    @property
    def finalized_features_epoch(self) -> int:
        return self.metadata.end_offset - 1

    def storage_failed(self, partition: Partition, error: OSError) -> KafkaError:
        """What to tell a client whose request met a failing or full disk."""
        path = partition.require_log().directory.rpartition("/")[0]
        return self.directory_failed(path, error, is_replicated=partition.has_other_replicas)

    def _metadata_changed(self, delta: MetadataDelta) -> None:
        self.departures.apply(delta, self.image)
        if delta.partitions_changed or delta.brokers_changed:
            self.leader_changes.notify()

    def _log_synced(self, log: Log) -> None:
        partition = self.partitions.get(log.partition)
        if partition is not None and partition.log is log:
            partition.log_synced()

    def log_failed(self, log: Log, error: OSError) -> KafkaError:
        """Takes the log's directory offline, with all its partitions, unless it is merely full."""
        return self.directory_failed(log.directory.rpartition("/")[0], error)

    def directory_failed(
        self, path: str, error: OSError, *, is_replicated: bool = False
    ) -> KafkaError:
        """The same for what is not about one log. A full directory goes offline too where other
        nodes have what could not be written, so that they take over."""
        told = self.logs.storage_error(path, error, is_replicated=is_replicated)
        if path in self.logs.failed:
            _log.error("%s", told.message)
            for each in self.partitions:
                if each.log is not None and each.log.directory.startswith(f"{path}/"):
                    self.replication.forget(each)
                    each.go_offline()
        elif self.clock.monotonic() >= self._quiet_until:
            # Clients try again without a word: somebody has to hear of it, and not of each.
            self._quiet_until = self.clock.monotonic() + _QUIET_SECONDS
            _log.warning("%s", told.message)
        return told

    def when_warm(self, cold: list[FileSlice], response: FetchResponse) -> Pending:
        """The response, once its records can be sent without waiting for a device."""
        pending = Pending()
        self.tasks.start("warm up", self._warm(cold, pending, response))
        return pending

    async def _warm(self, cold: list[FileSlice], pending: Pending, response: FetchResponse) -> None:
        for each in cold:
            # A read that fails is met again, and answered for, when the records are sent.
            with suppress(OSError):
                await self.background.run(each.warm)
        pending.resolve(response)
