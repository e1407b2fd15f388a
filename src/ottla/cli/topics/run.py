"""`ottla topics` at work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, TypeVar

from confluent_kafka import KafkaError, KafkaException, TopicCollection

# The package has types, but its modules do not say what they export.
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    NewPartitions,
    NewTopic,
    TopicDescription,
)

from ottla.cli.connection import cluster_errors
from ottla.cli.connection.cluster_client import REQUEST_TIMEOUT_S, ConnectedCluster, result_of
from ottla.cli.connection.config_entries import Resource, described_configs
from ottla.cli.display.cells import count
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.topics.views import (
    PartitionView,
    TopicView,
    description_json,
    listing_json,
    listing_table,
    print_description,
)
from ottla.configs.near_names import near_topic_config

TOPICS_PER_REQUEST: Final = 100

T = TypeVar("T")


class NewTopics(NamedTuple):
    """Topics to create, all alike. None leaves a number to the cluster."""

    names: tuple[str, ...]
    partitions: int | None
    replication_factor: int | None
    configs: dict[str, str]
    if_not_exists: bool

    def to_kafka(self) -> list[NewTopic]:
        return [
            NewTopic(
                name,
                num_partitions=self.partitions or -1,
                replication_factor=self.replication_factor or -1,
                config=self.configs,
            )
            for name in dict.fromkeys(self.names)
        ]


class Outcomes:
    """Reports the outcome for each topic, and keeps the highest exit code."""

    def __init__(self, terminal: Terminal, *, as_json: bool) -> None:
        self.worst = ExitCode.OK
        self._terminal = terminal
        self._as_json = as_json

    def succeed(self, topic: str, outcome: str) -> None:
        if self._as_json:
            self._terminal.print_json({"topic": topic, "outcome": outcome})
        else:
            self._terminal.stdout.print(f"{outcome} {topic}", markup=False)

    def fail(self, topic: str, error: CommandError) -> None:
        """One refusal leaves the other topics their chance; silence is everyone's."""
        if error.exit_code is ExitCode.UNREACHABLE:
            raise error
        if self._as_json:
            fields = {"topic": topic, "outcome": "refused", "reason": error.message}
            self._terminal.print_json(fields)
        self._terminal.complain(error)
        self.worst = max(self.worst, error.exit_code)


def create_topics(
    cluster: ConnectedCluster, terminal: Terminal, new: NewTopics, *, as_json: bool
) -> ExitCode:
    """Every topic is tried; the worst of the answers is the exit code."""
    outcomes = Outcomes(terminal, as_json=as_json)
    for some in _in_requests(new.to_kafka()):
        answers = cluster.admin.create_topics(some, request_timeout=REQUEST_TIMEOUT_S)
        for name, answer in answers.items():
            try:
                answer.result()
                outcomes.succeed(name, "created")
            except KafkaException as exception:
                error = exception.args[0]
                if error.code() == KafkaError.TOPIC_ALREADY_EXISTS and new.if_not_exists:
                    outcomes.succeed(name, "exists")
                else:
                    refused = cluster_errors.refused(f"create topic {name}", error)
                    if error.code() == KafkaError.INVALID_CONFIG:
                        refused.hints += tuple(_config_hints(new.configs))
                    outcomes.fail(name, refused)
    return outcomes.worst


def delete_topics(
    cluster: ConnectedCluster, terminal: Terminal, names: Iterable[str], *, as_json: bool
) -> ExitCode:
    outcomes = Outcomes(terminal, as_json=as_json)
    for some in _in_requests(list(dict.fromkeys(names))):
        answers = cluster.admin.delete_topics(some, request_timeout=REQUEST_TIMEOUT_S)
        for name, answer in answers.items():
            try:
                result_of(answer, f"delete topic {name}")
                outcomes.succeed(name, "deleted")
            except CommandError as error:
                outcomes.fail(name, error)
    return outcomes.worst


def grow_topic(
    cluster: ConnectedCluster, terminal: Terminal, topic: str, *, partitions: int, as_json: bool
) -> None:
    before = len(cluster.topic(topic).partitions)
    new_partitions = [NewPartitions(topic, partitions)]
    answers = cluster.admin.create_partitions(new_partitions, request_timeout=REQUEST_TIMEOUT_S)
    result_of(answers[topic], f"grow topic {topic}")
    if as_json:
        terminal.print_json({"topic": topic, "partitions": partitions, "partitions_before": before})
    else:
        terminal.stdout.print(f"{topic}: {count(partitions, 'partition')} now, {before} before")


def list_topics(
    cluster: ConnectedCluster, terminal: Terminal, *, internal: bool, as_json: bool
) -> None:
    topics = [
        topic
        for name, topic in sorted(cluster.metadata.topics.items())
        if internal or not name.startswith("__")
    ]
    if as_json:
        for topic in topics:
            terminal.print_json(listing_json(topic))
    elif topics:
        terminal.stdout.print(listing_table(topics))
    elif cluster.is_secured:
        terminal.notice("There are no topics yet, or none that this user may describe.")
    else:
        terminal.notice("There are no topics yet. Create one with: ottla topics create NAME")


def describe_topics(
    cluster: ConnectedCluster, terminal: Terminal, names: Iterable[str], *, as_json: bool
) -> None:
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        cluster.topic(name)
    answers = cluster.admin.describe_topics(
        TopicCollection(chosen), request_timeout=REQUEST_TIMEOUT_S
    )
    for name in chosen:
        view = _topic_view(cluster, result_of(answers[name], f"describe topic {name}"))
        if as_json:
            terminal.print_json(description_json(view))
        else:
            print_description(terminal.stdout, view)


def _topic_view(cluster: ConnectedCluster, description: TopicDescription) -> TopicView:
    name = description.name
    # Only a partition with a leader can say which offsets it has.
    led = [partition.id for partition in description.partitions if partition.leader is not None]
    earliest, latest = cluster.earliest(name, led), cluster.latest(name, led)
    partitions = tuple(
        PartitionView(
            partition.id,
            leader=None if partition.leader is None else partition.leader.id,
            replicas=tuple(replica.id for replica in partition.replicas),
            in_sync=tuple(replica.id for replica in partition.isr),
            earliest=earliest.get(partition.id),
            latest=latest.get(partition.id),
        )
        for partition in sorted(description.partitions, key=lambda partition: partition.id)
    )
    configs = {
        entry.name: entry.value
        for entry in described_configs(cluster, Resource.topic(name))
        if entry.is_set_on_topic
    }
    return TopicView(
        name,
        # The client writes ids with other letters for the last two digits than Kafka does.
        topic_id=str(description.topic_id).translate(str.maketrans("+/", "-_")),
        is_internal=description.is_internal,
        configs=configs,
        partitions=partitions,
    )


def _config_hints(names: Iterable[str]) -> Iterator[str]:
    """A newer cluster may have more topic configs, so only a refusal suggests other names."""
    for name in names:
        near = near_topic_config(name)
        if near not in (None, name):
            yield f"There is no topic config {name}; did you mean {near}?"


def _in_requests(items: list[T]) -> Iterator[list[T]]:
    """As many at a time as a cluster can well answer within the time of a request."""
    for first in range(0, len(items), TOPICS_PER_REQUEST):
        yield items[first : first + TOPICS_PER_REQUEST]
