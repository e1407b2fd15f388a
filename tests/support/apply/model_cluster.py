"""A cluster in memory, which makes the changes of a plan one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace

from ottla.cli.apply.changes import (
    AddAcl,
    AddPartitions,
    AlterQuotas,
    AlterResource,
    AwaitMoves,
    Change,
    ConfigChange,
    CreateTopic,
    DeleteCredential,
    DeleteTopic,
    MoveReplicas,
    RemoveAcl,
    Replicas,
    SetCredential,
)
from ottla.cli.cluster_state.present import (
    PresentConfig,
    PresentConfigs,
    PresentPartition,
    PresentState,
    PresentTopic,
)
from ottla.configs import ConfigResourceType, ConfigType
from ottla.configs.value import format_value, parse_value

TOPIC_CONFIGS = {
    "cleanup.policy": PresentConfig("delete", False, ConfigType.LIST),
    "min.insync.replicas": PresentConfig("1", False, ConfigType.INT),
    "preallocate": PresentConfig("false", False, ConfigType.BOOLEAN),
    "retention.ms": PresentConfig("604800000", False, ConfigType.LONG),
}
BROKER_CONFIGS = {
    "log.cleaner.threads": PresentConfig("1", False, ConfigType.INT),
    "ssl.key.password": PresentConfig(None, False, ConfigType.PASSWORD, is_sensitive=True),
    "node.id": PresentConfig("1", False, ConfigType.INT, is_read_only=True),
}
GROUP_CONFIGS = {
    "consumer.session.timeout.ms": PresentConfig("45000", False, ConfigType.INT),
}
METRICS_CONFIGS = {
    "interval.ms": PresentConfig("300000", False, ConfigType.INT),
}
_DEFAULT_PARTITIONS = 2


def with_set(known: PresentConfigs, values: Mapping[str, str | None]) -> dict[str, PresentConfig]:
    """The known configs with some set, in the form in which a cluster describes them."""
    found = dict(known)
    for name, value in values.items():
        shown = value
        if value is not None:
            shown = format_value(parse_value(known[name].type, value))
        found[name] = known[name]._replace(value=shown, is_set=True)
    return found


@dataclass
class ModelCluster:
    """Begins with a state, and keeps the next one. It refuses nothing."""

    state: PresentState
    # The number of replicas before the moves that are in progress.
    moving: dict[tuple[str, int], int] = field(default_factory=dict)

    def in_sync_count(self, topic: str, partition: int) -> int:
        """During a move, old replicas are in sync until the new ones are."""
        count = len(self.state.topics[topic].partitions[partition].replicas)
        return min(count, self.moving.get((topic, partition), count))

    def make(self, change: Change) -> None:
        for part in _parts(change):
            self._make(part)

    def make_some(self, changes: Sequence[Change], count: int) -> None:
        """Only the first ones: then the command is killed. A request that moves the replicas of
        several partitions may be half done."""
        parts = [part for change in changes for part in _parts(change)]
        for part in parts[:count]:
            self._make(part)

    def settled(self) -> PresentState:
        """When all moves are complete."""
        return replace(self.state, topics=_settled(self.state.topics, self.state.topics))

    def _make(self, change: Change) -> None:
        state = self.state
        match change:
            case CreateTopic():
                self._set_topic(change.name, _new_topic(change, state))
            case DeleteTopic(name=name):
                topics = {key: topic for key, topic in state.topics.items() if key != name}
                self.state = replace(state, topics=topics)
            case AddPartitions():
                topic = state.topics[change.topic]
                factor = len(topic.partitions[0].replicas)
                added = change.assignment or _placed(
                    change.count - change.before, factor, state.brokers
                )
                partitions = (*topic.partitions, *map(PresentPartition, added))
                self._set_topic(change.topic, replace(topic, partitions=partitions))
            case MoveReplicas():
                topic = state.topics[change.topic]
                moved = list(topic.partitions)
                for index, (before, replicas) in change.moves.items():
                    self.moving[change.topic, index] = len(before)
                    moved[index] = PresentPartition(replicas, is_moving=True)
                self._set_topic(change.topic, replace(topic, partitions=tuple(moved)))
            case AwaitMoves(topics=names):
                self.moving = {key: n for key, n in self.moving.items() if key[0] not in names}
                self.state = replace(state, topics=_settled(state.topics, names))
            case AlterResource():
                self._alter(change)
            case AlterQuotas():
                self._alter_quotas(change)
            case _:
                self._change_access(change)

    def _set_topic(self, name: str, topic: PresentTopic) -> None:
        self.state = replace(self.state, topics={**self.state.topics, name: topic})

    def _alter(self, change: AlterResource) -> None:
        state, (kind, name) = self.state, change.resource
        if kind is ConfigResourceType.TOPIC:
            topic = state.topics[name]
            configs = _altered(topic.configs, change.configs, TOPIC_CONFIGS)
            self._set_topic(name, replace(topic, configs=configs))
        elif kind is ConfigResourceType.GROUP:
            configs = _altered(state.groups.get(name, {}), change.configs, GROUP_CONFIGS)
            self.state = replace(state, groups={**state.groups, name: configs})
        elif kind is ConfigResourceType.CLIENT_METRICS:
            configs = _altered(state.client_metrics.get(name, {}), change.configs, METRICS_CONFIGS)
            metrics = {**state.client_metrics, name: configs}
            self.state = replace(state, client_metrics=metrics)
        elif name:
            configs = _altered(state.broker_configs[int(name)], change.configs, BROKER_CONFIGS)
            found = {**state.broker_configs, int(name): configs}
            self.state = replace(state, broker_configs=found)
        else:
            configs = _altered(state.cluster, change.configs, BROKER_CONFIGS)
            self.state = replace(state, cluster=configs)

    def _alter_quotas(self, change: AlterQuotas) -> None:
        found = dict(self.state.quotas.get(change.entity, {}))
        for key, before, after in change.quotas:
            assert found.get(key) == before
            if after is None:
                del found[key]
            else:
                found[key] = after
        quotas = {**self.state.quotas, change.entity: found}
        self.state = replace(self.state, quotas={key: each for key, each in quotas.items() if each})

    def _change_access(self, change: Change) -> None:
        users = deepcopy({name: dict(known) for name, known in self.state.users.items()})
        acls = self.state.acls or frozenset()
        match change:
            case SetCredential(user=user, mechanism=mechanism, iterations=iterations):
                users.setdefault(user, {})[mechanism] = iterations
            case DeleteCredential(user=user, mechanism=mechanism):
                del users[user][mechanism]
            case AddAcl(binding=binding):
                acls |= {binding}
            case RemoveAcl(binding=binding):
                acls -= {binding}
            case _:
                raise AssertionError(change)
        users = {name: known for name, known in users.items() if known}
        self.state = replace(self.state, users=users, acls=acls)


def _parts(change: Change) -> Iterator[Change]:
    """What the cluster does at once."""
    if isinstance(change, MoveReplicas):
        for index, move in change.moves.items():
            yield replace(change, moves={index: move})
    else:
        yield change


def _new_topic(change: CreateTopic, state: PresentState) -> PresentTopic:
    assignment = change.assignment or _placed(
        change.partitions or _DEFAULT_PARTITIONS, change.replication_factor or 1, state.brokers
    )
    partitions = tuple(map(PresentPartition, assignment))
    return PresentTopic(partitions, configs=_altered(TOPIC_CONFIGS, change.configs, TOPIC_CONFIGS))


def _placed(count: int, factor: int, racks: Mapping[int, str | None]) -> tuple[Replicas, ...]:
    return (tuple(sorted(racks)[:factor]),) * count


def _altered(
    present: PresentConfigs, changes: Sequence[ConfigChange], known: PresentConfigs
) -> PresentConfigs:
    found = {**known, **present}
    for change in changes:
        if change.is_deletion:
            found[change.name] = known[change.name]
        else:
            found |= with_set({change.name: known[change.name]}, {change.name: change.after})
    return found


def _settled(
    topics: Mapping[str, PresentTopic], names: Mapping[str, object] | frozenset[str]
) -> dict[str, PresentTopic]:
    return {
        name: replace(
            topic,
            partitions=tuple(part._replace(is_moving=False) for part in topic.partitions),
        )
        if name in names
        else topic
        for name, topic in topics.items()
    }
