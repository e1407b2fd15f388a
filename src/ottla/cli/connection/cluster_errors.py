"""The messages and hints for errors between a command and a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final, NamedTuple

from ottla.cli.connection.bootstrap_addresses import address_text
from ottla.cli.connection.port_probe import unreachable_text
from ottla.cli.connection.rights_hints import rights_hint
from ottla.cli.connection.security_hints import security_hint
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.errors import ApiError, ClientError
from ottla.runtime.network import Address

NAMES_SUGGESTED_MAX: Final = 3

LOGIN_HINT: Final = (
    "If its clients authenticate with SASL, write security.protocol=SASL_SSL (or SASL_PLAINTEXT) "
    "and the user into a file, and name it with --command-config FILE."
)

_SILENCE_HINT: Final = (
    "The cluster answered earlier requests: check that the broker is running, is not overloaded "
    "and has free disk space; see its log. `ottla cluster status` shows the nodes."
)
_TOO_LARGE: Final = (
    "Raise max.message.bytes of the topic: ottla configs set --topic TOPIC max.message.bytes=BYTES"
)
_HINTS: Final = {
    "DELEGATION_TOKEN_AUTH_DISABLED": "Set delegation.token.secret.key, the same on every node.",
    "DELEGATION_TOKEN_OWNER_MISMATCH": "Only the owner of a token and its renewers may do this.",
    "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED": "Authenticate with a user name and a password or a "
    "certificate: not on a plaintext listener, and not with a token.",
    "INVALID_RECORD": "A compacted topic takes only records with a key: give one with --key, or "
    "with --format key-value.",
    "INVALID_REPLICATION_FACTOR": "A partition has at most one replica on each broker: ask for "
    "fewer with --replication-factor, or start more brokers.",
    "INVALID_TIMESTAMP": "The topic rejects timestamps that are too far from the current time: "
    "see its configs message.timestamp.before.max.ms and "
    "message.timestamp.after.max.ms.",
    "MESSAGE_TOO_LARGE": _TOO_LARGE,
    "RECORD_LIST_TOO_LARGE": _TOO_LARGE,
    "NOT_CONTROLLER": "There is no active controller just now: try again in a moment.",
    "NOT_ENOUGH_REPLICAS": "Too few replicas are in sync: `ottla topics describe` shows which; or "
    "lower min.insync.replicas of the topic.",
    "REQUEST_TIMED_OUT": "Check that the nodes that this needs are running: "
    "`ottla quorum status` shows them.",
    "SECURITY_DISABLED": "The cluster has no authorizer: set authorizer.class.name="
    "org.apache.kafka.metadata.authorizer.StandardAuthorizer on every node, and super.users.",
    "THROTTLING_QUOTA_EXCEEDED": "The cluster limits the rate of these requests: try again later.",
    "TOPIC_ALREADY_EXISTS": "Add --if-not-exists to accept a topic that exists.",
    "UNSUPPORTED_VERSION": "The cluster's features or versions do not allow this yet.",
}


class AdvertisedBroker(NamedTuple):
    """A broker and its advertised address."""

    broker_id: int
    address: Address


def refused(doing: str, error: ClientError) -> CommandError:
    """The cluster or the client reported an error. `doing` names the action."""
    if not isinstance(error, ApiError):
        exit_code = ExitCode.UNREACHABLE if error.retriable else ExitCode.REFUSED
        hints = [_SILENCE_HINT] if error.retriable else []
        reason = str(error).rstrip(".")
        return CommandError(f"Cannot {doing}: {reason}.", *hints, exit_code=exit_code)
    name = error.code.name
    reason = error.message.rstrip(".")
    hint = rights_hint(name, reason) or _HINTS.get(name)
    return CommandError(f"Cannot {doing}: {reason} ({name}).", *([] if hint is None else [hint]))


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
