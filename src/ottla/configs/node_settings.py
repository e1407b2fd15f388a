"""A node's configs as typed attributes, as far as a node uses or validates them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ottla.configs.metrics_listener import MetricsListener, parse_metrics_listener
from ottla.configs.otlp_endpoint import OtlpEndpoint, parse_otlp_endpoint
from ottla.configs.quorum_addresses import ControllerAddress, ControllerVoter
from ottla.configs.setting import Setting
from ottla.configs.value import ConfigValue, ConfigValues, Password


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """Any config is an item, such as `settings["num.partitions"]`; some are also attributes."""

    values: ConfigValues = field(repr=False)

    def __getitem__(self, name: str) -> ConfigValue:
        return self.values[name]

    node_id = Setting[int]("node.id")
    broker_id = Setting[int]("broker.id")
    process_roles = Setting[tuple[str, ...]]("process.roles")
    broker_rack = Setting[str | None]("broker.rack")

    authorizer_class_name = Setting[str]("authorizer.class.name")
    delegation_token_secret_key = Setting[Password | None]("delegation.token.secret.key")
    delegation_token_expiry_check_interval_ms = Setting[int](
        "delegation.token.expiry.check.interval.ms"
    )
    delegation_token_expiry_time_ms = Setting[int]("delegation.token.expiry.time.ms")
    delegation_token_max_lifetime_ms = Setting[int]("delegation.token.max.lifetime.ms")

    num_partitions = Setting[int]("num.partitions")
    default_replication_factor = Setting[int]("default.replication.factor")
    min_insync_replicas = Setting[int]("min.insync.replicas")
    auto_create_topics_enable = Setting[bool]("auto.create.topics.enable")
    delete_topic_enable = Setting[bool]("delete.topic.enable")

    socket_request_max_bytes = Setting[int]("socket.request.max.bytes")
    queued_max_request_bytes = Setting[int]("queued.max.request.bytes")
    request_timeout_ms = Setting[int]("request.timeout.ms")
    unstable_api_versions_enable = Setting[bool]("unstable.api.versions.enable")
    max_connections = Setting[int]("max.connections")
    max_connections_per_ip = Setting[int]("max.connections.per.ip")
    max_connection_creation_rate = Setting[int]("max.connection.creation.rate")
    connections_max_idle_ms = Setting[int]("connections.max.idle.ms")
    connection_failed_authentication_delay_ms = Setting[int](
        "connection.failed.authentication.delay.ms"
    )
    _tenant_listeners = Setting[tuple[str, ...]]("ottla.tenant.listeners")
    pre_auth_timeout_ms = Setting[int]("ottla.pre.auth.timeout.ms")
    allow_everyone_if_no_acl_found = Setting[bool]("allow.everyone.if.no.acl.found")
    log_format = Setting[str]("ottla.log.format")
    audit_log = Setting[str]("ottla.audit.log")
    audit_log_bytes_max = Setting[int]("ottla.audit.log.bytes.max")
    audit_log_files_max = Setting[int]("ottla.audit.log.files.max")
    fetch_max_bytes = Setting[int]("fetch.max.bytes")
    max_incremental_fetch_session_cache_slots = Setting[int](
        "max.incremental.fetch.session.cache.slots"
    )
    max_request_partition_size_limit = Setting[int]("max.request.partition.size.limit")

    deleted_partitions_max = Setting[int]("ottla.delete.retention.partitions.max")
    deleted_bytes_max = Setting[int]("ottla.delete.retention.bytes")
    deleted_free_percent_min = Setting[int]("ottla.delete.retention.min.free.percent")
    stray_retention_ms = Setting[int]("ottla.stray.retention.ms")
    log_retention_check_interval_ms = Setting[int]("log.retention.check.interval.ms")
    log_flush_scheduler_interval_ms = Setting[int]("log.flush.scheduler.interval.ms")
    log_flush_offset_checkpoint_interval_ms = Setting[int](
        "log.flush.offset.checkpoint.interval.ms"
    )
    log_cleaner_enable = Setting[bool]("log.cleaner.enable")
    log_cleaner_threads = Setting[int]("log.cleaner.threads")
    log_cleaner_backoff_ms = Setting[int]("log.cleaner.backoff.ms")
    log_cleaner_dedupe_buffer_size = Setting[int]("log.cleaner.dedupe.buffer.size")
    log_cleaner_io_max_bytes_per_second = Setting[float]("log.cleaner.io.max.bytes.per.second")
    cordoned_log_dirs = Setting[tuple[str, ...]]("cordoned.log.dirs")
    remote_log_storage_system_enable = Setting[bool]("remote.log.storage.system.enable")

    metadata_log_segment_bytes = Setting[int]("metadata.log.segment.bytes")
    metadata_log_max_record_bytes_between_snapshots = Setting[int](
        "metadata.log.max.record.bytes.between.snapshots"
    )

    controller_quorum_election_timeout_ms = Setting[int]("controller.quorum.election.timeout.ms")
    controller_quorum_election_backoff_max_ms = Setting[int](
        "controller.quorum.election.backoff.max.ms"
    )
    controller_quorum_fetch_timeout_ms = Setting[int]("controller.quorum.fetch.timeout.ms")
    controller_quorum_fetch_max_bytes = Setting[int]("controller.quorum.fetch.max.bytes")
    controller_quorum_fetch_snapshot_max_bytes = Setting[int](
        "controller.quorum.fetch.snapshot.max.bytes"
    )
    controller_quorum_request_timeout_ms = Setting[int]("controller.quorum.request.timeout.ms")
    controller_quorum_retry_backoff_ms = Setting[int]("controller.quorum.retry.backoff.ms")

    broker_heartbeat_interval_ms = Setting[int]("broker.heartbeat.interval.ms")
    broker_session_timeout_ms = Setting[int]("broker.session.timeout.ms")
    auto_leader_rebalance_enable = Setting[bool]("auto.leader.rebalance.enable")
    leader_imbalance_check_interval_seconds = Setting[int](
        "leader.imbalance.check.interval.seconds"
    )
    unclean_leader_election_enable = Setting[bool]("unclean.leader.election.enable")
    unclean_leader_election_interval_ms = Setting[int]("unclean.leader.election.interval.ms")

    replica_fetch_backoff_ms = Setting[int]("replica.fetch.backoff.ms")
    replica_fetch_max_bytes = Setting[int]("replica.fetch.max.bytes")
    replica_fetch_min_bytes = Setting[int]("replica.fetch.min.bytes")
    replica_fetch_response_max_bytes = Setting[int]("replica.fetch.response.max.bytes")
    replica_fetch_wait_max_ms = Setting[int]("replica.fetch.wait.max.ms")
    replica_lag_time_max_ms = Setting[int]("replica.lag.time.max.ms")
    replica_selector_class = Setting[str | None]("replica.selector.class")
    replica_socket_timeout_ms = Setting[int]("replica.socket.timeout.ms")

    replica_alter_log_dirs_io_max_bytes_per_second = Setting[int](
        "replica.alter.log.dirs.io.max.bytes.per.second"
    )
    alter_log_dirs_replication_quota_window_num = Setting[int](
        "alter.log.dirs.replication.quota.window.num"
    )
    alter_log_dirs_replication_quota_window_size_seconds = Setting[int](
        "alter.log.dirs.replication.quota.window.size.seconds"
    )
    quota_window_num = Setting[int]("quota.window.num")
    quota_window_size_seconds = Setting[int]("quota.window.size.seconds")
    controller_quota_window_num = Setting[int]("controller.quota.window.num")
    controller_quota_window_size_seconds = Setting[int]("controller.quota.window.size.seconds")
    replication_quota_window_num = Setting[int]("replication.quota.window.num")
    replication_quota_window_size_seconds = Setting[int]("replication.quota.window.size.seconds")

    offsets_commit_timeout_ms = Setting[int]("offsets.commit.timeout.ms")
    offsets_load_buffer_size = Setting[int]("offsets.load.buffer.size")
    offsets_retention_check_interval_ms = Setting[int]("offsets.retention.check.interval.ms")
    offsets_topic_compression_codec = Setting[int]("offsets.topic.compression.codec")
    offsets_topic_num_partitions = Setting[int]("offsets.topic.num.partitions")
    offsets_topic_segment_bytes = Setting[int]("offsets.topic.segment.bytes")

    producer_id_expiration_ms = Setting[int]("producer.id.expiration.ms")
    producer_id_expiration_check_interval_ms = Setting[int](
        "producer.id.expiration.check.interval.ms"
    )
    transaction_remove_expired_interval_ms = Setting[int](
        "transaction.remove.expired.transaction.cleanup.interval.ms"
    )
    schema_topic = Setting[str]("ottla.schema.topic")
    dead_letter_prefix = Setting[str]("errors.deadletterqueue.topic.name.prefix")
    group_share_max_share_sessions = Setting[int]("group.share.max.share.sessions")
    share_coordinator_load_buffer_size = Setting[int]("share.coordinator.load.buffer.size")
    share_coordinator_prune_interval_ms = Setting[int](
        "share.coordinator.state.topic.prune.interval.ms"
    )
    share_coordinator_snapshot_interval_ms = Setting[int](
        "share.coordinator.cold.partition.snapshot.interval.ms"
    )
    share_coordinator_state_topic_compression_codec = Setting[int](
        "share.coordinator.state.topic.compression.codec"
    )
    share_coordinator_state_topic_min_isr = Setting[int]("share.coordinator.state.topic.min.isr")
    share_coordinator_state_topic_num_partitions = Setting[int](
        "share.coordinator.state.topic.num.partitions"
    )
    share_coordinator_state_topic_segment_bytes = Setting[int](
        "share.coordinator.state.topic.segment.bytes"
    )
    share_coordinator_write_timeout_ms = Setting[int]("share.coordinator.write.timeout.ms")
    transaction_state_log_load_buffer_size = Setting[int]("transaction.state.log.load.buffer.size")
    transaction_state_log_min_isr = Setting[int]("transaction.state.log.min.isr")
    transaction_state_log_num_partitions = Setting[int]("transaction.state.log.num.partitions")
    transaction_state_log_segment_bytes = Setting[int]("transaction.state.log.segment.bytes")
    transaction_partition_verification_enable = Setting[bool](
        "transaction.partition.verification.enable"
    )
    add_partitions_to_txn_retry_backoff_ms = Setting[int]("add.partitions.to.txn.retry.backoff.ms")
    add_partitions_to_txn_retry_backoff_max_ms = Setting[int](
        "add.partitions.to.txn.retry.backoff.max.ms"
    )

    _metrics_listener = Setting[str]("ottla.metrics.listener")
    _otlp_endpoint = Setting[str]("ottla.metrics.otlp.endpoint")
    _otlp_headers = Setting[Password | None]("ottla.metrics.otlp.headers")
    client_metrics_series_max = Setting[int]("ottla.client.metrics.series.max")
    telemetry_max_bytes = Setting[int]("telemetry.max.bytes")
    metrics_otlp_interval_ms = Setting[int]("ottla.metrics.otlp.interval.ms")
    _super_users = Setting[str]("super.users")
    _quorum_voters = Setting[tuple[str, ...]]("controller.quorum.voters")
    _quorum_bootstrap_servers = Setting[tuple[str, ...]]("controller.quorum.bootstrap.servers")
    _log_dir = Setting[tuple[str, ...]]("log.dir")
    _log_dirs = Setting[tuple[str, ...] | None]("log.dirs")
    _metadata_log_dir = Setting[str | None]("metadata.log.dir")
    _max_connections_per_ip_overrides = Setting[str]("max.connections.per.ip.overrides")

    @property
    def is_broker(self) -> bool:
        return "broker" in self.process_roles

    @property
    def is_controller(self) -> bool:
        return "controller" in self.process_roles

    @property
    def is_standalone(self) -> bool:
        """Whether no quorum is configured: the node is a quorum of one."""
        return not self._quorum_voters and not self._quorum_bootstrap_servers

    @property
    def super_users(self) -> tuple[str, ...]:
        """The principals, as Type:name, that may do everything."""
        return tuple(user for part in self._super_users.split(";") if (user := part.strip()))

    @property
    def controller_quorum_voters(self) -> tuple[ControllerVoter, ...]:
        """The voters of a static quorum, sorted by id."""
        by_id = {
            voter.id: voter for voter in map(ControllerVoter.parse, self._quorum_voters) if voter
        }
        return tuple(by_id[voter_id] for voter_id in sorted(by_id))

    @property
    def controller_quorum_bootstrap_servers(self) -> tuple[ControllerAddress, ...]:
        servers = map(ControllerAddress.parse, self._quorum_bootstrap_servers)
        return tuple(server for server in servers if server)

    @property
    def metrics_listener(self) -> MetricsListener | None:
        """Where the node serves its metrics; None if it does not."""
        return parse_metrics_listener(self._metrics_listener)

    @property
    def metrics_otlp_endpoint(self) -> OtlpEndpoint | None:
        """Where the node sends its metrics; None if it does not."""
        return parse_otlp_endpoint(self._otlp_endpoint, self._otlp_headers)

    @property
    def has_metrics(self) -> bool:
        """Whether the node's metrics are read at all. If not, requests are not measured."""
        return self.metrics_listener is not None or self.metrics_otlp_endpoint is not None

    @property
    def log_dirs(self) -> tuple[str, ...]:
        return self._log_dirs or self._log_dir

    @property
    def metadata_log_dir(self) -> str:
        return self._metadata_log_dir or self.log_dirs[0]

    @property
    def max_connections_per_ip_overrides(self) -> dict[str, int]:
        """The maximum number of connections for individual hosts."""
        pairs = (part.rpartition(":") for part in self._max_connections_per_ip_overrides.split(","))
        return {host.strip(): int(count) for host, _, count in pairs if count.strip()}

    @property
    def tenant_listeners(self) -> dict[str, str]:
        """The listeners of tenants, each with the tenant's name, or `*`."""
        pairs = (part.partition(":") for part in self._tenant_listeners)
        return {listener.strip(): tenant.strip() for listener, _, tenant in pairs}
