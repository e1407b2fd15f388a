"""`ottla topics` at work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ottla.cli.connection import cluster_errors
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.resource_configs import described_configs
from ottla.cli.connection.topic_lookup import (
    earliest_offsets,
    existing_topic,
    latest_offsets,
)
from ottla.cli.display.cells import count
from ottla.cli.display.confirmation import confirm
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
from ottla.client.administration.admin import Admin
from ottla.client.administration.topics import NewTopic, TopicDescription
from ottla.client.errors import ApiError, ClientError, TopicAlreadyExistsError
from ottla.configs import ConfigResource, ConfigResourceType, ConfigSource
from ottla.configs.near_names import near_topic_config
from ottla.model import ErrorCode, uuid_to_text


class NewTopics(NamedTuple):
    """Topics to create, all alike. None leaves a number to the cluster."""

    names: tuple[str, ...]
    partitions: int | None
    replication_factor: int | None
    configs: dict[str, str]
    if_not_exists: bool

    def each(self) -> list[NewTopic]:
        return [
            NewTopic(name, self.partitions, self.replication_factor, self.configs)
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


async def create_topics(
    admin: Admin, terminal: Terminal, new: NewTopics, *, as_json: bool
) -> ExitCode:
    """Every topic is tried; the worst of the answers is the exit code."""
    outcomes = Outcomes(terminal, as_json=as_json)
    with doing("create topics"):
        results = await admin.create_topics(new.each())
    for name in results:
        error = results.error(name)
        if error is None:
            outcomes.succeed(name, "created")
        elif isinstance(error, TopicAlreadyExistsError) and new.if_not_exists:
            outcomes.succeed(name, "exists")
        else:
            outcomes.fail(name, _not_created(name, error, new.configs))
    return outcomes.worst


def _not_created(name: str, error: ClientError, configs: Mapping[str, str]) -> CommandError:
    refused = cluster_errors.refused(f"create topic {name}", error)
    if isinstance(error, ApiError) and error.code is ErrorCode.INVALID_CONFIG:
        refused.hints += tuple(_config_hints(configs))
    return refused


async def delete_topics(
    admin: Admin,
    terminal: Terminal,
    names: Iterable[str],
    *,
    is_confirmed: bool,
    as_json: bool,
) -> ExitCode:
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        await existing_topic(admin, name)
    if not is_confirmed:
        confirm(f"Delete {', '.join(chosen)} with all records?")
    outcomes = Outcomes(terminal, as_json=as_json)
    with doing("delete topics"):
        results = await admin.delete_topics(chosen)
    for name in chosen:
        error = results.error(name)
        if error is None:
            outcomes.succeed(name, "deleted")
        else:
            outcomes.fail(name, cluster_errors.refused(f"delete topic {name}", error))
    return outcomes.worst


async def grow_topic(
    admin: Admin, terminal: Terminal, topic: str, *, partitions: int, as_json: bool
) -> None:
    before = len((await existing_topic(admin, topic)).partitions)
    with doing(f"grow topic {topic}"):
        (await admin.create_partitions({topic: partitions})).all()
    if as_json:
        terminal.print_json({"topic": topic, "partitions": partitions, "partitions_before": before})
    else:
        terminal.stdout.print(f"{topic}: {count(partitions, 'partition')} now, {before} before")


async def list_topics(
    admin: Admin, terminal: Terminal, *, internal: bool, is_secured: bool, as_json: bool
) -> None:
    """`is_secured`: whether the user may have no rights on some of what there is."""
    with doing("list the topics"):
        found = await admin.list_topics()
    topics = [topic for name, topic in found.items() if internal or not name.startswith("__")]
    if as_json:
        for topic in topics:
            terminal.print_json(listing_json(topic))
    elif topics:
        terminal.stdout.print(listing_table(topics))
    elif is_secured:
        terminal.notice("There are no topics yet, or none that this user may describe.")
    else:
        terminal.notice("There are no topics yet. Create one with: ottla topics create NAME")


async def describe_topics(
    admin: Admin, terminal: Terminal, names: Iterable[str], *, as_json: bool
) -> None:
    for topic in [await existing_topic(admin, name) for name in dict.fromkeys(names)]:
        view = await _topic_view(admin, topic)
        if as_json:
            terminal.print_json(description_json(view))
        else:
            print_description(terminal.stdout, view)


async def _topic_view(admin: Admin, topic: TopicDescription) -> TopicView:
    # Only a partition with a leader can say which offsets it has.
    led = [each.partition for each in topic.partitions if each.leader is not None]
    earliest = await earliest_offsets(admin, topic.name, led)
    latest = await latest_offsets(admin, topic.name, led)
    partitions = tuple(
        PartitionView(
            each.partition,
            leader=each.leader,
            replicas=each.replicas,
            in_sync=each.in_sync,
            earliest=earliest.get(each.partition),
            latest=latest.get(each.partition),
        )
        for each in topic.partitions
    )
    resource = ConfigResource(ConfigResourceType.TOPIC, topic.name)
    configs = {
        entry.name: entry.value
        for entry in await described_configs(admin, resource)
        if entry.source is ConfigSource.DYNAMIC_TOPIC_CONFIG
    }
    return TopicView(
        topic.name,
        topic_id=uuid_to_text(topic.topic_id),
        is_internal=topic.is_internal,
        configs=configs,
        partitions=partitions,
    )


def _config_hints(names: Iterable[str]) -> Iterator[str]:
    """A newer cluster may have more topic configs, so only a refusal suggests other names."""
    for name in names:
        near = near_topic_config(name)
        if near not in (None, name):
            yield f"There is no topic config {name}; did you mean {near}?"
