"""Validates combinations of a node's configs."""

from __future__ import annotations

import re
from typing import Final

from ottla.configs.errors import InvalidConfigError
from ottla.configs.node_settings import NodeSettings
from ottla.configs.topic_config import UNLIMITED, EffectiveTopicConfig

_HOST: Final = re.compile(r"[0-9a-zA-Z\-%._:]*")
_DEDUPE_BUFFER_BYTES_MIN: Final = 1024 * 1024
_AUTHORIZER: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_EVERY_LOG_DIR: Final = "*"


def validate_node(node: NodeSettings, topic_defaults: EffectiveTopicConfig) -> None:
    """Raises InvalidConfigError for the first combination that cannot work."""
    _validate_log(node, topic_defaults)
    _validate_connections(node)
    _validate_authorization(node)
    # They raise errors of their own.
    _ = node.metrics_listener, node.metrics_otlp_endpoint
    _require(
        node.node_id == node.broker_id,
        f"node.id ({node.node_id}) and broker.id ({node.broker_id}) must be the same; remove "
        "broker.id",
    )
    _require(
        node.replica_fetch_wait_max_ms <= node.replica_socket_timeout_ms,
        f"replica.fetch.wait.max.ms ({node.replica_fetch_wait_max_ms}) must not be more than "
        f"replica.socket.timeout.ms ({node.replica_socket_timeout_ms}), or fetches time out",
    )
    _require(
        node.replica_fetch_wait_max_ms <= node.replica_lag_time_max_ms,
        f"replica.fetch.wait.max.ms ({node.replica_fetch_wait_max_ms}) must not be more than "
        f"replica.lag.time.max.ms ({node.replica_lag_time_max_ms}), or replicas leave the ISR",
    )


def _validate_log(node: NodeSettings, topic_defaults: EffectiveTopicConfig) -> None:
    _require(topic_defaults.segment_ms >= 1, "log.roll.ms must be at least 1")
    _require(topic_defaults.segment_jitter_ms >= 0, "log.roll.jitter.ms must be at least 0")
    _require(
        topic_defaults.retention_ms >= 1 or topic_defaults.retention_ms == UNLIMITED,
        "log.retention.ms (or .minutes, or .hours) must be at least 1, or -1 for no limit",
    )
    _require(
        node.log_cleaner_threads >= 1
        and node.log_cleaner_dedupe_buffer_size // node.log_cleaner_threads
        > _DEDUPE_BUFFER_BYTES_MIN,
        "log.cleaner.dedupe.buffer.size must be more than 1 MiB for each of at least one thread "
        "in log.cleaner.threads",
    )
    astray = set(node.cordoned_log_dirs) - {*node.log_dirs, _EVERY_LOG_DIR}
    _require(
        not astray,
        f"cordoned.log.dirs has {', '.join(sorted(astray))}, which log.dirs does not have",
    )


def _validate_connections(node: NodeSettings) -> None:
    _require(
        node.queued_max_request_bytes <= 0
        or node.queued_max_request_bytes >= node.socket_request_max_bytes,
        f"queued.max.request.bytes ({node.queued_max_request_bytes}) must be at least "
        f"socket.request.max.bytes ({node.socket_request_max_bytes}), or -1 for no limit",
    )
    _require(
        node.connections_max_idle_ms < 0
        or node.connection_failed_authentication_delay_ms < node.connections_max_idle_ms,
        "connection.failed.authentication.delay.ms "
        f"({node.connection_failed_authentication_delay_ms}) must be less than "
        f"connections.max.idle.ms ({node.connections_max_idle_ms}), or the connection is closed "
        "before the error is sent",
    )
    overrides = _connections_per_ip_overrides(node)
    _require(
        node.max_connections_per_ip > 0 or bool(overrides),
        "max.connections.per.ip=0 refuses all clients; add exceptions to "
        "max.connections.per.ip.overrides",
    )


def _validate_authorization(node: NodeSettings) -> None:
    authorizer = node.authorizer_class_name.strip()
    _require(
        authorizer in ("", _AUTHORIZER),
        f"authorizer.class.name must be {_AUTHORIZER}, or empty to let every client do everything; "
        "Ottla cannot run other Java classes",
    )
    _require(
        all(":" in user for user in node.super_users),
        "super.users must be principals such as User:admin, separated by semicolons",
    )
    _require(
        all(node.tenant_listeners.values()),
        "ottla.tenant.listeners must be LISTENER:TENANT, separated by commas; * is any tenant",
    )
    for name, is_set in (
        ("super.users", bool(node.super_users)),
        ("allow.everyone.if.no.acl.found", node.allow_everyone_if_no_acl_found),
    ):
        _require(
            bool(authorizer) or not is_set,
            f"{name} has no effect without an authorizer, and every client could do everything; "
            f"set authorizer.class.name={_AUTHORIZER} or remove {name}",
        )


def _connections_per_ip_overrides(node: NodeSettings) -> dict[str, int]:
    try:
        overrides = node.max_connections_per_ip_overrides
    except ValueError:
        overrides = None
    if overrides is None or not all(map(_HOST.fullmatch, overrides)):
        raise InvalidConfigError(
            "max.connections.per.ip.overrides must be HOST:COUNT,HOST:COUNT,..."
        )
    return overrides


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise InvalidConfigError(message)
