"""The messages and hints for errors between a command and a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.cli.connection.bootstrap_addresses import address_text
from ottla.cli.connection.port_probe import unreachable_text
from ottla.cli.connection.rights_hints import rights_hint
from ottla.cli.connection.security_hints import security_hint
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.runtime.network import Address

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

NAMES_SUGGESTED_MAX: Final = 3

LOGIN_HINT: Final = (
    "If its clients authenticate with SASL, write security.protocol=SASL_SSL (or SASL_PLAINTEXT) "
    "and the user into a file, and name it with --command-config FILE."
)

# The client's error names for a missing response.
_SILENCE: Final = frozenset(
    {
        "_ALL_BROKERS_DOWN",
        "_MSG_TIMED_OUT",
        "_RESOLVE",
        "_TIMED_OUT",
        "_TIMED_OUT_QUEUE",
        "_TRANSPORT",
    }
)
_HINTS: Final = {
    "INVALID_RECORD": "A compacted topic takes only records with a key: give one with --key, or "
    "with --format key-value.",
    "INVALID_REPLICATION_FACTOR": "A partition has at most one replica on each broker: ask for "
    "fewer with --replication-factor, or start more brokers.",
    "INVALID_TIMESTAMP": "The topic rejects timestamps that are too far from the current time: "
    "see its configs message.timestamp.before.max.ms and "
    "message.timestamp.after.max.ms.",
    "MSG_SIZE_TOO_LARGE": "Raise max.message.bytes of the topic: "
    "ottla configs set --topic TOPIC max.message.bytes=BYTES",
    "NOT_ENOUGH_REPLICAS": "Too few replicas are in sync: `ottla topics describe` shows which; or "
    "lower min.insync.replicas of the topic.",
    "TOPIC_ALREADY_EXISTS": "Add --if-not-exists to accept a topic that exists.",
    "THROTTLING_QUOTA_EXCEEDED": "The cluster limits the rate of these requests: try again later.",
    "_AUTHENTICATION": "Give the credentials in a file (--command-config FILE) or a profile.",
}


class AdvertisedBroker(NamedTuple):
    """A broker and its advertised address."""

    broker_id: int
    address: Address


def refused(doing: str, error: KafkaError) -> CommandError:
    """The cluster or the client reported an error. `doing` names the action."""
    name = error.name()
    exit_code = ExitCode.UNREACHABLE if name in _SILENCE else ExitCode.REFUSED
    hints = [_HINTS[name]] if name in _HINTS else []
    if name in _SILENCE:
        hints.append(
            "The cluster answered earlier requests: check that the broker is running, is not "
            "overloaded and has free disk space; see its log."
        )
    reason = error.str().removeprefix("Broker: ").removeprefix("Local: ").rstrip(".")
    if hint := rights_hint(name, reason):
        hints.append(hint)
    return CommandError(f"Cannot {doing}: {reason} ({name}).", *hints, exit_code=exit_code)


def cannot_connect(reasons: Mapping[Address, str]) -> CommandError:
    return CommandError(
        f"Cannot connect to {unreachable_text(dict(reasons))}.",
        "Is a broker running there? Start one with `ottla start`, or say where it is with "
        "--bootstrap HOST:PORT, OTTLA_BOOTSTRAP or a profile (`ottla profile`).",
        exit_code=ExitCode.UNREACHABLE,
    )


def speaks_otherwise(address: Address, protocol: str) -> CommandError:
    """The port is open, but is not a broker's PLAINTEXT listener."""
    hint = "Give the port of a broker's listener with --bootstrap HOST:PORT; 9092 is usual."
    if protocol == "TLS":
        hint = (
            "If it is a broker's listener, write security.protocol=SSL (or SASL_SSL) into a file "
            "and name it with --command-config FILE."
        )
    return CommandError(
        f"{address_text(address)} does not speak Kafka's protocol: it is {protocol}.",
        hint,
        exit_code=ExitCode.UNREACHABLE,
    )


def insecure(addresses: Iterable[Address], reason: str) -> CommandError:
    return CommandError(
        f"No secure connection to {', '.join(map(address_text, addresses))}: {reason.rstrip('.')}.",
        security_hint(reason),
        exit_code=ExitCode.UNREACHABLE,
    )


def refused_property(error: KafkaError) -> CommandError:
    return CommandError(
        f"The Kafka client rejects its properties: {error.str().rstrip('.')}.",
        "Properties come from -X, --command-config and the profile; librdkafka's CONFIGURATION.md "
        "lists them.",
        exit_code=ExitCode.USAGE,
    )


def no_answer(
    addresses: Iterable[Address], timeout_s: float, *, has_sasl: bool = False
) -> CommandError:
    return CommandError(
        f"{', '.join(map(address_text, addresses))} accepts connections, but sent no valid Kafka "
        f"response within {timeout_s:.0f} s.",
        "Is it the port of a broker's listener? Is the broker still starting, or overloaded?",
        *([] if has_sasl else [LOGIN_HINT]),
        exit_code=ExitCode.UNREACHABLE,
    )


def controllers_port(addresses: Iterable[Address]) -> CommandError:
    return CommandError(
        f"{', '.join(map(address_text, addresses))} is a controller's port, or a broker of a "
        "version that this client does not support.",
        "Give the port of a broker's listener with --bootstrap HOST:PORT.",
        exit_code=ExitCode.UNREACHABLE,
    )


def advertised_wrongly(
    bootstrap: Iterable[Address], reasons: Mapping[AdvertisedBroker, str]
) -> CommandError:
    """The bootstrap address responds, but the brokers advertise unreachable addresses."""
    answering = tuple(bootstrap)
    unreachable = "; ".join(
        f"broker {broker.broker_id} advertises {address_text(broker.address)} ({reason})"
        for broker, reason in reasons.items()
    )
    return CommandError(
        f"{', '.join(map(address_text, answering))} answers, but the cluster advertises an "
        f"address that cannot be reached from here: {unreachable}.",
        "Set advertised.listeners of the broker to an address that its clients can reach, such "
        f"as PLAINTEXT://{address_text(answering[0])} (`ottla start --advertise HOST:PORT`), and "
        "restart it; or make the advertised address reachable from this host.",
        exit_code=ExitCode.UNREACHABLE,
    )


def unknown_topic(topic: str, known: Iterable[str], *, may_be_hidden: bool = False) -> CommandError:
    """A broker answers in the same way for a topic that the user may not describe."""
    hint = f"`ottla topics list` shows those that exist; `ottla topics create {topic}` creates it."
    otherwise = ", or this user may not describe it" if may_be_hidden else ""
    return CommandError(f"There is no topic {topic}{otherwise}.", *_suggestions(topic, known), hint)


def unknown_config(resource: str, name: str, known: Iterable[str]) -> CommandError:
    hint = "`ottla configs describe --all` shows every config with its value."
    message = f"There is no config {name} of {resource}."
    return CommandError(message, *_suggestions(name, known), hint)


def unknown_broker(broker_id: int, known: Iterable[int]) -> CommandError:
    ids = ", ".join(map(str, sorted(known)))
    return CommandError(f"There is no broker {broker_id} in the cluster; its brokers are {ids}.")


def unknown_partitions(topic: str, missing: Iterable[int], partition_count: int) -> CommandError:
    named = ", ".join(map(str, missing))
    return CommandError(
        f"Topic {topic} has no partition {named}. Number of its partitions: "
        f"{partition_count}, numbered from 0."
    )


def _suggestions(name: str, known: Iterable[str]) -> list[str]:
    near = near_names(name, known)
    return [f"Did you mean {' or '.join(near)}?"] if near else []


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """Known names that are similar to this one, regardless of case."""
    by_lower_case = {candidate.lower(): candidate for candidate in known}
    found = get_close_matches(name.lower(), by_lower_case, n=NAMES_SUGGESTED_MAX)
    return [by_lower_case[match] for match in found]
