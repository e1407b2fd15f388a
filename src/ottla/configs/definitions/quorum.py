"""The roles of a node, the controller quorum and its metadata log."""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import (
    HIGH,
    INTERNAL,
    LONG_MAX,
    LOW,
    REQUIRED,
    boolean,
    int32,
    int64,
    string,
    strings,
)
from ottla.configs.status import WITHOUT_EFFECT
from ottla.configs.validators import BootstrapServers, QuorumVotersValidator, at_least, list_of

QUORUM_CONFIGS: Final = (
    int32("broker.heartbeat.interval.ms", 2000),
    int32("broker.id", -1, HIGH),
    string("broker.rack", None),
    int32("broker.session.timeout.ms", 9000),
    boolean("controlled.shutdown.enable", True, WITHOUT_EFFECT),
    strings("controller.listener.names", REQUIRED, list_of(may_be_empty=False), HIGH),
    int64(
        "controller.performance.always.log.threshold.ms",
        2000,
        at_least(0),
        INTERNAL,
        WITHOUT_EFFECT,
    ),
    int64(
        "controller.performance.sample.period.ms", 60_000, at_least(100), INTERNAL, WITHOUT_EFFECT
    ),
    int32("controller.quorum.append.linger.ms", 25, at_least(0), WITHOUT_EFFECT),
    boolean("controller.quorum.auto.join.enable", False, LOW, WITHOUT_EFFECT),
    strings("controller.quorum.bootstrap.servers", (), BootstrapServers(), HIGH),
    int32("controller.quorum.election.backoff.max.ms", 1000, at_least(0), HIGH),
    int32("controller.quorum.election.timeout.ms", 1000, at_least(0), HIGH),
    int32("controller.quorum.fetch.max.bytes", 1_048_576, at_least(1), LOW),
    int32("controller.quorum.fetch.snapshot.max.bytes", 1_048_576, at_least(1), LOW),
    int32("controller.quorum.fetch.timeout.ms", 2000, at_least(0), HIGH),
    int32("controller.quorum.request.timeout.ms", 2000, at_least(0)),
    int32("controller.quorum.retry.backoff.ms", 20, at_least(0), LOW),
    strings("controller.quorum.voters", (), QuorumVotersValidator(), HIGH),
    int32("initial.broker.registration.timeout.ms", 60_000, WITHOUT_EFFECT),
    int64("internal.metadata.delete.delay.millis", 60_000, LOW, INTERNAL, WITHOUT_EFFECT),
    int32("internal.metadata.log.segment.bytes", None, LOW, INTERNAL, WITHOUT_EFFECT),
    int32("internal.metadata.max.batch.size.in.bytes", 8_388_608, LOW, INTERNAL, WITHOUT_EFFECT),
    string("metadata.log.dir", None, HIGH),
    int64("metadata.log.max.record.bytes.between.snapshots", 20_971_520, at_least(1), HIGH),
    int64("metadata.log.max.snapshot.interval.ms", 3_600_000, at_least(0), HIGH, WITHOUT_EFFECT),
    int32("metadata.log.segment.bytes", 1_073_741_824, at_least(8_388_608), HIGH),
    int64("metadata.log.segment.ms", 604_800_000, HIGH, WITHOUT_EFFECT),
    int32("metadata.max.idle.interval.ms", 500, at_least(0), LOW, WITHOUT_EFFECT),
    int64("metadata.max.retention.bytes", 104_857_600, HIGH, WITHOUT_EFFECT),
    int64("metadata.max.retention.ms", 604_800_000, HIGH, WITHOUT_EFFECT),
    int32("node.id", REQUIRED, at_least(0), HIGH),
    strings("process.roles", REQUIRED, list_of("broker", "controller", may_be_empty=False), HIGH),
    int64("server.max.startup.time.ms", LONG_MAX, at_least(0), INTERNAL, WITHOUT_EFFECT),
    boolean("unstable.api.versions.enable", False, HIGH, INTERNAL),
    boolean("unstable.feature.versions.enable", False, HIGH, INTERNAL, WITHOUT_EFFECT),
)
