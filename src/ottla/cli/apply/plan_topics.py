"""Plans topics: their partitions, replicas and configs. Partitions never become fewer."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.cli.apply.changes import AddPartitions, CreateTopic, DeleteTopic, MoveReplicas, Replicas
from ottla.cli.apply.draft import Draft
from ottla.cli.apply.placement import with_factor
from ottla.cli.apply.plan_configs import compared, plan_resource
from ottla.cli.cluster_file.desired import DesiredState, DesiredTopic, ManagedKind
from ottla.cli.cluster_state.present import PresentState, PresentTopic, is_internal
from ottla.cli.display.cells import count
from ottla.configs import ConfigResource, ConfigResourceType


def plan_topics(draft: Draft, desired: DesiredState, present: PresentState) -> None:
    for name, topic in sorted(desired.topics.items()):
        found = present.topics.get(name)
        if found is None:
            _create(draft, name, topic, present)
            continue
        resource = ConfigResource(ConfigResourceType.TOPIC, name)
        plan_resource(draft, resource, topic.place, topic.configs, found.configs)
        _grow(draft, name, topic, found, present)
        _move(draft, name, topic, found, present)
    for name, found in sorted(present.topics.items()):
        is_extra = name not in desired.topics and not is_internal(name, found)
        if is_extra and desired.is_managed(ManagedKind.TOPICS, name):
            draft.prune(f"topic {name}", DeleteTopic(name, len(found.partitions)))


def _create(draft: Draft, name: str, topic: DesiredTopic, present: PresentState) -> None:
    resource = ConfigResource(ConfigResourceType.TOPIC, name)
    configs = tuple(compared(draft, resource, topic.configs, {}))
    for replicas in topic.assignment or ():
        _check_live(draft, name, topic, replicas, present)
    if topic.replication_factor is not None:
        _check_factor(draft, name, topic, topic.replication_factor, present)
    draft.add(
        CreateTopic(
            name, topic.place, topic.partitions, topic.replication_factor, topic.assignment, configs
        )
    )


def _grow(
    draft: Draft, name: str, topic: DesiredTopic, found: PresentTopic, present: PresentState
) -> None:
    before, wanted = len(found.partitions), topic.partitions
    if wanted is None or wanted == before:
        return
    if wanted < before:
        draft.refuse(
            topic.place,
            f"topic {name} has {count(before, 'partition')}, and the file says {wanted}: "
            f"partitions cannot be removed; write {before} or more, or delete the topic with its "
            f"records (ottla topics delete {name})",
        )
        return
    added = None if topic.assignment is None else topic.assignment[before:]
    for replicas in added or ():
        _check_live(draft, name, topic, replicas, present)
    draft.add(AddPartitions(name, topic.place, before, wanted, added))


def _move(
    draft: Draft, name: str, topic: DesiredTopic, found: PresentTopic, present: PresentState
) -> None:
    moves: dict[int, tuple[Replicas, Replicas]] = {}
    factor = topic.replication_factor
    for index, (replicas, _) in enumerate(found.partitions):
        wanted = replicas
        if topic.assignment is not None and index < len(topic.assignment):
            wanted = topic.assignment[index]
        elif factor is not None and len(replicas) != factor:
            if not _check_factor(draft, name, topic, factor, present):
                return
            wanted = with_factor(replicas, factor, present.brokers, topic=name, partition=index)
        if wanted != replicas:
            _check_live(draft, name, topic, set(wanted) - set(replicas), present)
            moves[index] = (replicas, wanted)
    if moves:
        draft.add(MoveReplicas(name, topic.place, moves))


def _check_factor(
    draft: Draft, name: str, topic: DesiredTopic, factor: int, present: PresentState
) -> bool:
    if factor <= len(present.brokers):
        return True
    draft.refuse(
        topic.place,
        f"topic {name} has replication_factor {factor}, and the cluster "
        f"{count(len(present.brokers), 'running broker')}; write at most that, or start more",
    )
    return False


def _check_live(
    draft: Draft, name: str, topic: DesiredTopic, replicas: Iterable[int], present: PresentState
) -> None:
    for broker in sorted(set(replicas) - present.brokers.keys()):
        live = ", ".join(map(str, sorted(present.brokers)))
        draft.refuse(
            topic.place,
            f"the assignment of topic {name} has broker {broker}, which is not running; running "
            f"brokers are {live}",
        )
