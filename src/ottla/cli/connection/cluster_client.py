"""The commands' access to a cluster through confluent-kafka, like any other program.

`connect` reports at once what a client would silently retry: no process listens on the port, the
port has another protocol, or the brokers advertise addresses that cannot be reached from here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
)

# The package has types, but its modules do not declare what they export.
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ClusterMetadata,
    ListOffsetsResultInfo,
    OffsetSpec,
    TopicMetadata,
)

from ottla.cli.connection import cluster_errors
from ottla.cli.connection.bootstrap_addresses import join_addresses
from ottla.cli.connection.cluster_access import ClusterAccess, resolve
from ottla.cli.connection.cluster_errors import AdvertisedBroker
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.port_probe import PortProbe
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.offsets import ListedOffset
from ottla.client.errors import ConnectionFailedError, error_for
from ottla.runtime.network import Address
from ottla.runtime.system_network import SystemNetwork

FIRST_ANSWER_TIMEOUT_S: Final = 1.0
ANSWER_TIMEOUT_S: Final = 9.0
# The client requests its first OAUTHBEARER token so long after its creation.
TOKEN_REQUEST_DELAY_S: Final = 1.0
REQUEST_TIMEOUT_S: Final = 30.0
# How long a record may wait for its acknowledgement, long enough for restarts of brokers.
DELIVERY_TIMEOUT_MS: Final = 30_000
# The broker rejects records that are too large; the client must hold one record and some batches.
RECORD_BYTES_MAX: Final = 256 << 20

# The client's error names for a missing response.
_SILENCE: Final = frozenset(
    {"_ALL_BROKERS_DOWN", "_MSG_TIMED_OUT", "_RESOLVE", "_TIMED_OUT", "_TIMED_OUT_QUEUE"}
    | {"_TRANSPORT"}
)

T = TypeVar("T")

# Special timestamps of ListOffsets requests.
EARLIEST: Final = -2
LATEST: Final = -1


class ConnectedCluster:
    """A connected cluster, with its metadata at connection time. `connect` creates it."""

    def __init__(
        self, access: ClusterAccess, admin: AdminClient, metadata: ClusterMetadata
    ) -> None:
        self.addresses = access.addresses
        self._access = access
        self.admin = admin
        self.metadata = metadata

    @property
    def is_secured(self) -> bool:
        """Whether the user may have no rights on some of what there is."""
        return not self._access.is_plaintext

    def topic(self, name: str) -> TopicMetadata:
        """Raises CommandError for a topic that does not exist, or that the user may not see."""
        found = self.metadata.topics.get(name)
        if found is None:
            self._require_visible(name)
            raise cluster_errors.unknown_topic(name, self.metadata.topics)
        return found

    def _require_visible(self, topic: str) -> None:
        """The metadata of all topics lacks those that the user may not describe."""
        answers = self.admin.describe_topics(
            TopicCollection([topic]), request_timeout=REQUEST_TIMEOUT_S
        )
        try:
            answers[topic].result()
        except KafkaException as error:
            reason = error.args[0]
            if reason.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                raise refused_by_client(f"describe topic {topic}", reason) from None

    def partitions(self, topic: str, requested: Iterable[int] = ()) -> list[int]:
        """The requested partitions of a topic, or all, in order."""
        existing = self.topic(topic).partitions
        chosen = sorted(set(requested)) or sorted(existing)
        if missing := [partition for partition in chosen if partition not in existing]:
            raise cluster_errors.unknown_partitions(topic, missing, len(existing))
        return chosen

    def earliest(self, topic: str, partitions: Iterable[int]) -> dict[int, int]:
        listed = self._offsets(topic, partitions, EARLIEST)
        return {partition: found.offset for partition, found in listed.items()}

    def latest(self, topic: str, partitions: Iterable[int]) -> dict[int, int]:
        """The offset of the next record in each partition."""
        listed = self._offsets(topic, partitions, LATEST)
        return {partition: found.offset for partition, found in listed.items()}

    def last_stable(self, topic: str, partitions: Iterable[int]) -> dict[int, int]:
        """The last stable offset of each partition, up to which read_committed consumers read."""
        listed = self._offsets(topic, partitions, LATEST, IsolationLevel.READ_COMMITTED)
        return {partition: found.offset for partition, found in listed.items()}

    def at_time(
        self, topic: str, partitions: Iterable[int], timestamp_ms: int
    ) -> dict[int, ListedOffset | None]:
        """The first record with that timestamp or a later one in each partition, or None."""
        listed = self._offsets(topic, partitions, timestamp_ms)
        return {
            partition: ListedOffset(found.offset, found.timestamp, None)
            if found.offset >= 0
            else None
            for partition, found in listed.items()
        }

    def _offsets(
        self,
        topic: str,
        partitions: Iterable[int],
        spec: int,
        isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    ) -> dict[int, ListOffsetsResultInfo]:
        requested = {
            TopicPartition(topic, partition): OffsetSpec(spec)  # type: ignore[abstract]
            for partition in partitions
        }
        answers = self.admin.list_offsets(
            requested, isolation_level=isolation_level, request_timeout=REQUEST_TIMEOUT_S
        )
        return {
            partition.partition: result_of(
                answer, f"list the offsets of {topic}-{partition.partition}"
            )
            for partition, answer in answers.items()
        }

    def producer(self, configs: dict[str, Any]) -> Producer:
        """A producer. The user's properties override these configs."""
        configs = {
            "delivery.timeout.ms": DELIVERY_TIMEOUT_MS,
            "message.max.bytes": RECORD_BYTES_MAX,
            "queue.buffering.max.kbytes": RECORD_BYTES_MAX // 1024,
            # The same partitions for keys as with Apache Kafka's own client.
            "partitioner": "murmur2_random",
        } | configs
        return _new(Producer, client_configs(self._access, configs))

    def consumer(self, configs: dict[str, Any]) -> Consumer:
        """A consumer with assigned partitions. The client requires a group id nevertheless."""
        configs = {
            "group.id": "ottla",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            # By default the client pauses fetches for a whole second when its queue is full.
            "fetch.queue.backoff.ms": 10,
        } | configs
        return _new(Consumer, client_configs(self._access, configs))


def connect(
    options: ClusterOptions, terminal: Terminal, probe: PortProbe | None = None
) -> ConnectedCluster:
    access = resolve(options)
    access.require_files()
    probe = probe or PortProbe(SystemNetwork())
    reasons = asyncio.run(probe.why_unreachable(access.addresses))
    answering = tuple(address for address in access.addresses if address not in reasons)
    if not answering:
        raise cluster_errors.cannot_connect(reasons)
    cluster = _first_answer(replace(access, bootstrap=join_addresses(answering)), probe)
    _check_advertised(cluster, probe, terminal)
    return cluster


def client_configs(access: ClusterAccess, configs: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of a client. The user's properties override `configs`."""
    return {
        "client.id": "ottla",
        # The commands report failures themselves.
        "log_level": 0,
        **configs,
        **access.client_properties(),
        "bootstrap.servers": access.bootstrap,
    }


def producer_configs(*, acks: str, compression: str, is_long: bool) -> dict[str, Any]:
    """With acks=all a long run is idempotent: a resent record is not written twice.

    The client waits half a second before it requests a producer id. So a short run is not
    idempotent, and keeps the order of records with one request in flight.
    """
    configs = {"acks": acks, "compression.type": compression}
    if acks == "all" and is_long:
        return configs | {"enable.idempotence": True}
    return configs if is_long else configs | {"max.in.flight": 1, "linger.ms": 0}


def refused_by_client(doing: str, error: KafkaError) -> CommandError:
    """For an error of confluent-kafka."""
    code, reason = error.code(), error.str().removeprefix("Broker: ").removeprefix("Local: ")
    if code < 0:
        found = cluster_errors.refused(doing, ConnectionFailedError(f"{reason} ({error.name()})"))
        is_silence = error.name() in _SILENCE
        found.exit_code = ExitCode.UNREACHABLE if is_silence else ExitCode.REFUSED
        return found
    return cluster_errors.refused(doing, error_for(code, reason))


def result_of(answer: Any, doing: str) -> Any:
    """The result of one of the admin client's futures."""
    try:
        return answer.result()
    except KafkaException as error:
        raise refused_by_client(doing, error.args[0]) from None


def advertised_brokers(metadata: ClusterMetadata) -> list[AdvertisedBroker]:
    return [
        AdvertisedBroker(broker.id, Address(str(broker.host), int(broker.port)))
        for broker in metadata.brokers.values()
    ]


def _first_answer(access: ClusterAccess, probe: PortProbe) -> ConnectedCluster:
    """Connects with a short timeout first: without a response the port may not be a broker's."""
    reasons: list[str] = []
    delay_s = 0.0 if access.security.bearer is None else TOKEN_REQUEST_DELAY_S
    cluster = _try_connect(access, FIRST_ANSWER_TIMEOUT_S + delay_s, reasons)
    if cluster is not None:
        return cluster
    if not access.is_plaintext and reasons:
        raise cluster_errors.insecure(access.addresses, reasons[-1])
    if not access.security.has_tls:
        for address in access.addresses:
            if protocol := asyncio.run(probe.other_protocol(address)):
                raise cluster_errors.speaks_otherwise(address, protocol)
    cluster = _try_connect(access, ANSWER_TIMEOUT_S, reasons)
    if cluster is not None:
        return cluster
    raise cluster_errors.no_answer(
        access.addresses,
        FIRST_ANSWER_TIMEOUT_S + ANSWER_TIMEOUT_S,
        has_sasl=access.security.has_sasl,
    )


def _try_connect(
    access: ClusterAccess, timeout_s: float, reasons: list[str]
) -> ConnectedCluster | None:
    """None if there is no response; then the client and its connections are closed, too."""

    def note(error: KafkaError) -> None:
        # The client reports the reasons before this error.
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001 - the client's own naming
            reasons.append(error.str())

    admin = _new(AdminClient, client_configs(access, {"error_cb": note}))
    try:
        return ConnectedCluster(access, admin, admin.list_topics(timeout=timeout_s))
    except KafkaException as error:
        code = error.args[0].code()
    # The client runs callbacks only within a poll.
    admin.poll(0)
    if code == KafkaError._UNSUPPORTED_FEATURE:  # noqa: SLF001 - the client's own naming
        raise cluster_errors.controllers_port(access.addresses)
    return None


def _new(client: Callable[[dict[str, Any]], T], configs: dict[str, Any]) -> T:
    """Creates a client. Raises CommandError for a property that the client rejects."""
    try:
        return client(configs)
    except KafkaException as error:
        raise CommandError(
            f"The Kafka client rejects its properties: {error.args[0].str().rstrip('.')}.",
            exit_code=ExitCode.USAGE,
        ) from None


def _check_advertised(cluster: ConnectedCluster, probe: PortProbe, terminal: Terminal) -> None:
    """Raises CommandError if no broker can be reached. If some can, prints a notice of the
    others."""
    brokers = advertised_brokers(cluster.metadata)
    unknown = {broker.address for broker in brokers} - set(cluster.addresses)
    reasons = asyncio.run(probe.why_unreachable(unknown)) if unknown else {}
    lost = {broker: reasons[broker.address] for broker in brokers if broker.address in reasons}
    if not lost:
        return
    error: CommandError = cluster_errors.advertised_wrongly(cluster.addresses, lost)
    if len(lost) == len(brokers):
        raise error
    terminal.notice(error.message)
