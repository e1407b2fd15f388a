"""Listeners, connections, and Kafka's network threads and queues."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import (
    CLUSTER_WIDE,
    HIGH,
    INT_MAX,
    LOW,
    PER_BROKER,
    int32,
    int64,
    string,
    strings,
)
from ottla.configs.status import WITHOUT_EFFECT
from ottla.configs.validators import at_least, list_of, one_of

NETWORK_CONFIGS: Final = (
    strings("advertised.listeners", None, list_of(may_be_empty=False), HIGH),
    int32("background.threads", 10, at_least(1), HIGH, CLUSTER_WIDE, WITHOUT_EFFECT),
    int32("connection.failed.authentication.delay.ms", 100, at_least(0), LOW),
    int64("connections.max.idle.ms", 600_000),
    strings("early.start.listeners", None, list_of(), HIGH, WITHOUT_EFFECT),
    int32("fetch.max.bytes", 57_671_680, at_least(1024)),
    string("inter.broker.listener.name", None),
    string(
        "listener.security.protocol.map",
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        LOW,
        PER_BROKER,
    ),
    strings("listeners", ("PLAINTEXT://:9092",), list_of(may_be_empty=False), HIGH, PER_BROKER),
    int32("max.connection.creation.rate", INT_MAX, at_least(0), CLUSTER_WIDE),
    int32("max.connections", INT_MAX, at_least(0), CLUSTER_WIDE),
    int32("max.connections.per.ip", INT_MAX, at_least(0), CLUSTER_WIDE),
    string("max.connections.per.ip.overrides", "", CLUSTER_WIDE),
    int32("max.incremental.fetch.session.cache.slots", 1000, at_least(0)),
    int32("max.request.partition.size.limit", 2000, at_least(1)),
    int32("num.io.threads", 8, at_least(1), HIGH, CLUSTER_WIDE, WITHOUT_EFFECT),
    int32("num.network.threads", 3, at_least(1), HIGH, CLUSTER_WIDE, WITHOUT_EFFECT),
    int64("queued.max.request.bytes", -1, WITHOUT_EFFECT),
    int32("queued.max.requests", 500, at_least(1), HIGH, WITHOUT_EFFECT),
    int32("request.timeout.ms", 30_000, HIGH),
    string(
        "security.inter.broker.protocol",
        "PLAINTEXT",
        one_of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    ),
    int64("socket.connection.setup.timeout.max.ms", 30_000, WITHOUT_EFFECT),
    int64("socket.connection.setup.timeout.ms", 10_000, WITHOUT_EFFECT),
    int32("socket.listen.backlog.size", 50, at_least(1), WITHOUT_EFFECT),
    int32("socket.receive.buffer.bytes", 102_400, HIGH, WITHOUT_EFFECT),
    int32("socket.request.max.bytes", 104_857_600, at_least(1), HIGH),
    int32("socket.send.buffer.bytes", 102_400, HIGH, WITHOUT_EFFECT),
)
