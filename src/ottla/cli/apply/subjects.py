"""What each change is about, and how a plan shows it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

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
from ottla.cli.cluster_file.acl_fields import acl_word
from ottla.cli.display.quota_texts import entity_text, quota_text
from ottla.configs import ConfigResourceType
from ottla.security.acls.acl import ANY_HOST, AclBinding, PatternType


class Action(StrEnum):
    CREATE = "create"
    CHANGE = "change"
    DELETE = "delete"


class ChangedField(NamedTuple):
    """`before` is None for what was not there, `after` for what goes. `note` is for people."""

    name: str
    before: str | None
    after: str | None
    note: str = ""


class Subject(NamedTuple):
    """A topic, a user, an ACL, ... The cluster is the only one without a name."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


def subject_of(change: Change) -> Subject:
    match change:
        case AlterResource(resource=resource):
            if resource.type is ConfigResourceType.BROKER and not resource.name:
                return Subject("cluster", "")
            return Subject(resource.type.name.lower().replace("_", " "), resource.name)
        case SetCredential(user=user) | DeleteCredential(user=user):
            return Subject("user", user)
        case AlterQuotas(entity=entity):
            return Subject("quota", entity_text(entity))
        case AddAcl(binding=binding) | RemoveAcl(binding=binding):
            return Subject("acl", acl_text(binding))
        case _:
            return Subject("topic", change.name)


def action_of(change: Change) -> Action:
    match change:
        case CreateTopic() | AddAcl() | SetCredential(is_new_user=True) | AlterQuotas(is_new=True):
            return Action.CREATE
        case (
            DeleteTopic() | RemoveAcl() | DeleteCredential(is_last=True) | AlterQuotas(is_last=True)
        ):
            return Action.DELETE
        case _:
            return Action.CHANGE


def fields_of(change: Change) -> Iterator[ChangedField]:
    match change:
        case CreateTopic():
            yield from _new_topic(change)
        case AddPartitions(before=before, count=count, assignment=assignment):
            yield ChangedField("partitions", str(before), str(count))
            for partition, replicas in enumerate(assignment or (), before):
                yield ChangedField(f"replicas of {partition}", None, _ids(replicas))
        case MoveReplicas(moves=moves):
            for partition, (before_it, after_it) in sorted(moves.items()):
                yield ChangedField(f"replicas of {partition}", _ids(before_it), _ids(after_it))
        case AlterResource(configs=configs):
            yield from map(_config, configs)
        case SetCredential(mechanism=mechanism, before=was, iterations=iterations):
            old = None if was is None else f"{was} iterations"
            note = f"password from {change.password}"
            yield ChangedField(mechanism.mechanism, old, f"{iterations} iterations", note)
        case DeleteCredential(mechanism=mechanism, iterations=iterations):
            yield ChangedField(mechanism.mechanism, f"{iterations} iterations", None)
        case AlterQuotas(quotas=quotas):
            for key, old_limit, limit in quotas:
                yield ChangedField(key, _quota(key, old_limit), _quota(key, limit))
        case DeleteTopic(partitions=partitions):
            yield ChangedField("partitions", str(partitions), None, "with all records")
        case AddAcl() | RemoveAcl() | AwaitMoves():
            return


def acl_text(binding: AclBinding) -> str:
    (kind, name, pattern_type), entry = binding
    prefixed = f" ({acl_word(pattern_type)})" if pattern_type is not PatternType.LITERAL else ""
    host = "" if entry.host == ANY_HOST else f" from {entry.host}"
    return (
        f"{acl_word(entry.permission)} {entry.principal} {acl_word(entry.operation)} on "
        f"{acl_word(kind)} {name}{prefixed}{host}"
    )


def _new_topic(topic: CreateTopic) -> Iterator[ChangedField]:
    for name, number in (
        ("partitions", topic.partitions),
        ("replication_factor", topic.replication_factor),
    ):
        if number is not None:
            yield ChangedField(name, None, str(number))
    for partition, replicas in enumerate(topic.assignment or ()):
        yield ChangedField(f"replicas of {partition}", None, _ids(replicas))
    for config in topic.configs:
        yield ChangedField(config.name, None, _config(config).after)


def _config(change: ConfigChange) -> ChangedField:
    if change.is_deletion:
        before = "hidden" if change.is_sensitive else change.before
        return ChangedField(change.name, before or "", None, "the default applies again")
    after = "hidden" if change.secret is not None else change.after
    note = "" if change.secret is None else f"from {change.secret}"
    if change.was_set or change.before is None:
        return ChangedField(change.name, change.before, after, note)
    return ChangedField(change.name, change.before, after, "was not set here")


def _quota(key: str, value: float | None) -> str | None:
    return None if value is None else quota_text(key, value)


def _ids(replicas: Replicas) -> str:
    return ", ".join(map(str, replicas))
