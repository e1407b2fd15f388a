"""The properties of the commands' clients, from those of the user.

Properties of other clients than the command's are ignored, so that one file serves several
programs, and a command that looks a topic up before it writes takes the properties of a producer.
Names that no client has are refused with -X. librdkafka's own are refused everywhere, with Kafka's
name for the same where there is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ottla.cli.client_security.refused_properties import refused_properties
from ottla.cli.connection.cluster_access import ClusterAccess
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.settings.common import COMMON, ClusterSettings, cluster_settings
from ottla.client.settings.parsing import parse_properties
from ottla.client.settings.property import IGNORED, ClientProperty
from ottla.client_security.property_names import is_ignored, is_of_security

# librdkafka's names, and Kafka's for the same.
_OF_LIBRDKAFKA: Final[Mapping[str, str]] = {
    "auto.commit.enable": "enable.auto.commit",
    "batch.num.messages": "batch.size",
    "compression.codec": "compression.type",
    "fetch.message.max.bytes": "max.partition.fetch.bytes",
    "fetch.wait.max.ms": "fetch.max.wait.ms",
    "max.in.flight": "max.in.flight.requests.per.connection",
    "message.max.bytes": "max.request.size",
    "message.send.max.retries": "retries",
    "message.timeout.ms": "delivery.timeout.ms",
    "queue.buffering.max.kbytes": "buffer.memory",
    "queue.buffering.max.messages": "buffer.memory",
    "queue.buffering.max.ms": "linger.ms",
    "receive.message.max.bytes": "fetch.max.bytes",
    "request.required.acks": "acks",
    "socket.receive.buffer.bytes": "receive.buffer.bytes",
    "socket.send.buffer.bytes": "send.buffer.bytes",
    "socket.timeout.ms": "request.timeout.ms",
    "topic.metadata.refresh.interval.ms": "metadata.max.age.ms",
}
_ONLY_OF_LIBRDKAFKA: Final = frozenset(
    {
        "builtin.features",
        "debug",
        "delivery.report.only.error",
        "enable.gapless.guarantee",
        "enable.random.seed",
        "log_level",
        "max.in.flight.requests",
        "metadata.request.timeout.ms",
        "msg_order_cmp",
        "partitioner",
        "queuing.strategy",
        "socket.blocking.max.ms",
        "socket.keepalive.enable",
        "socket.max.fails",
        "socket.nagle.disable",
        "statistics.interval.ms",
        "sticky.partitioning.linger.ms",
    }
)
_PREFIXES_OF_LIBRDKAFKA: Final = (
    "api.version.",
    "broker.address.",
    "broker.version.",
    "consume.callback.",
    "coordinator.query.",
    "fetch.error.",
    "fetch.queue.",
    "internal.",
    "log.",
    "offset.store.",
    "plugin.",
    "queue.buffering.",
    "queued.",
    "topic.",
)


def client_properties(access: ClusterAccess, table: Mapping[str, ClientProperty]) -> dict[str, Any]:
    """The properties for a client that has this table. Raises CommandError."""
    found = {}
    for name, value in access.properties.items():
        if is_ignored(name):
            continue
        if is_of_security(name) or name in table or name in IGNORED:
            found[name] = value
        elif is_of_librdkafka(name):
            raise _of_librdkafka(name)
        elif name in access.explicit:
            _require_known(name)
    return found


def cluster_settings_of(access: ClusterAccess) -> ClusterSettings:
    """For commands that send requests of their own. Raises CommandError."""
    properties = client_properties(access, COMMON) | {"bootstrap.servers": access.bootstrap}
    with refused_properties():
        parsed = parse_properties(COMMON, properties, {})
    return cluster_settings(parsed.values, parsed.security)


def _require_known(name: str) -> None:
    # Imported late: most commands have no such property.
    from difflib import get_close_matches

    from ottla.client.administration.settings import ADMIN_PROPERTIES
    from ottla.client.consuming.properties import CONSUMER
    from ottla.client.settings.producer import PRODUCER
    from ottla.client.sharing.properties import SHARE_CONSUMER

    known = {*ADMIN_PROPERTIES, *CONSUMER, *PRODUCER, *SHARE_CONSUMER}
    if name in known:
        return
    near = get_close_matches(name, sorted(known), n=2)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Leave out -X {name}."
    raise CommandError(f"There is no client property {name}.", hint, exit_code=ExitCode.USAGE)


def is_of_librdkafka(name: str) -> bool:
    return (
        name in _OF_LIBRDKAFKA
        or name in _ONLY_OF_LIBRDKAFKA
        or name.startswith(_PREFIXES_OF_LIBRDKAFKA)
    )


def _of_librdkafka(name: str) -> CommandError:
    instead = _OF_LIBRDKAFKA.get(name)
    hint = f"Leave {name} out." if instead is None else f"Kafka's name for it is {instead}."
    return CommandError(
        f"The client property {name} is librdkafka's, which is not used here.",
        hint,
        exit_code=ExitCode.USAGE,
    )
