"""The changes that make a cluster what the files say, and the order in which they are safe.

| stage | why here |
|---|---|
| lower min.insync.replicas | before replicas are removed, so that producers with acks=all go on |
| create topics | |
| move replicas, and wait for that | new partitions get the replication factor of the first one |
| add partitions | |
| change other configs | a higher min.insync.replicas needs the new replicas in sync |
| set credentials | a user exists before its ACLs |
| set and remove quotas | |
| add DENY, then ALLOW, remove ALLOW | see below |
| delete credentials, delete topics | while the ACLs that deny access are there |
| remove DENY | |

At any time, an access that the ACLs allow is allowed by the old ones or by the new ones, and what
both allow is allowed throughout. Every change can be made again without effect, so after an
interruption a new plan has what is left of the old one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Final, NamedTuple, TypeAlias

from ottla.cli.cluster_file.desired import SecretSource
from ottla.cli.cluster_file.mistakes import Place
from ottla.configs import ConfigResource
from ottla.quotas.entities import QuotaEntity
from ottla.security.acls.acl import AclBinding, Permission
from ottla.security.sasl.scram_credential import ScramMechanism

MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"
Replicas: TypeAlias = tuple[int, ...]


class Stage(IntEnum):
    LOWER_MIN_INSYNC = auto()
    CREATE_TOPICS = auto()
    MOVE_REPLICAS = auto()
    AWAIT_MOVES = auto()
    ADD_PARTITIONS = auto()
    CHANGE_CONFIGS = auto()
    SET_CREDENTIALS = auto()
    ALTER_QUOTAS = auto()
    ADD_DENY = auto()
    ADD_ALLOW = auto()
    REMOVE_ALLOW = auto()
    DELETE_CREDENTIALS = auto()
    DELETE_TOPICS = auto()
    REMOVE_DENY = auto()


class ConfigChange(NamedTuple):
    """`before` is the effective value, None if it is unknown, none or a secret. Without `after` and
    `secret` the config is deleted, so that its default applies."""

    name: str
    before: str | None
    was_set: bool
    after: str | None
    secret: SecretSource | None = None
    is_sensitive: bool = False

    @property
    def is_deletion(self) -> bool:
        return self.after is None and self.secret is None

    @property
    def lowers_min_insync(self) -> bool:
        if self.name != MIN_INSYNC_REPLICAS or self.before is None:
            return False
        if self.after is None:
            # The default is the lowest value, unless the cluster has another.
            return True
        texts = (self.after, self.before)
        return all(map(str.isdecimal, texts)) and int(self.after) < int(self.before)


@dataclass(frozen=True, slots=True)
class CreateTopic:
    """What is None is up to the cluster."""

    name: str
    place: Place
    partitions: int | None
    replication_factor: int | None
    assignment: tuple[Replicas, ...] | None
    configs: tuple[ConfigChange, ...]

    @property
    def stage(self) -> Stage:
        return Stage.CREATE_TOPICS


@dataclass(frozen=True, slots=True)
class MoveReplicas:
    """The present and the new replicas, by partition."""

    topic: str
    place: Place
    moves: Mapping[int, tuple[Replicas, Replicas]]

    @property
    def name(self) -> str:
        return self.topic

    @property
    def stage(self) -> Stage:
        return Stage.MOVE_REPLICAS


@dataclass(frozen=True, slots=True)
class AwaitMoves:
    """Waits until no partition of these topics is being reassigned. It changes nothing."""

    topics: frozenset[str]
    place: Place | None = None

    @property
    def name(self) -> str:
        return ""

    @property
    def stage(self) -> Stage:
        return Stage.AWAIT_MOVES


@dataclass(frozen=True, slots=True)
class AddPartitions:
    """`assignment` is that of the new partitions only; None leaves it to the cluster."""

    topic: str
    place: Place
    before: int
    count: int
    assignment: tuple[Replicas, ...] | None

    @property
    def name(self) -> str:
        return self.topic

    @property
    def stage(self) -> Stage:
        return Stage.ADD_PARTITIONS


@dataclass(frozen=True, slots=True)
class AlterResource:
    """Changes configs of one resource, all of them or none."""

    resource: ConfigResource
    place: Place | None
    configs: tuple[ConfigChange, ...]

    @property
    def name(self) -> str:
        return self.resource.name

    @property
    def stage(self) -> Stage:
        if any(change.lowers_min_insync for change in self.configs):
            return Stage.LOWER_MIN_INSYNC
        return Stage.CHANGE_CONFIGS


@dataclass(frozen=True, slots=True)
class SetCredential:
    user: str
    place: Place
    mechanism: ScramMechanism
    before: int | None
    iterations: int
    password: SecretSource
    is_new_user: bool

    @property
    def name(self) -> str:
        return self.user

    @property
    def stage(self) -> Stage:
        return Stage.SET_CREDENTIALS


@dataclass(frozen=True, slots=True)
class DeleteCredential:
    user: str
    mechanism: ScramMechanism
    iterations: int
    is_last: bool
    place: Place | None = None

    @property
    def name(self) -> str:
        return self.user

    @property
    def stage(self) -> Stage:
        return Stage.DELETE_CREDENTIALS


class QuotaChange(NamedTuple):
    """`before` is None for a quota that was not set, `after` for one that is removed."""

    key: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class AlterQuotas:
    """Changes quotas of one entity, all of them or none. `is_last`: none is left."""

    entity: QuotaEntity
    place: Place | None
    quotas: tuple[QuotaChange, ...]
    is_new: bool = False
    is_last: bool = False

    @property
    def name(self) -> str:
        return repr(self.entity)

    @property
    def stage(self) -> Stage:
        return Stage.ALTER_QUOTAS


@dataclass(frozen=True, slots=True)
class AddAcl:
    binding: AclBinding
    place: Place

    @property
    def name(self) -> str:
        return self.binding.pattern.name

    @property
    def stage(self) -> Stage:
        is_allow = self.binding.entry.permission is Permission.ALLOW
        return Stage.ADD_ALLOW if is_allow else Stage.ADD_DENY


@dataclass(frozen=True, slots=True)
class RemoveAcl:
    binding: AclBinding
    place: Place | None = None

    @property
    def name(self) -> str:
        return self.binding.pattern.name

    @property
    def stage(self) -> Stage:
        is_allow = self.binding.entry.permission is Permission.ALLOW
        return Stage.REMOVE_ALLOW if is_allow else Stage.REMOVE_DENY


@dataclass(frozen=True, slots=True)
class DeleteTopic:
    name: str
    partitions: int
    place: Place | None = None

    @property
    def stage(self) -> Stage:
        return Stage.DELETE_TOPICS


Change: TypeAlias = (
    CreateTopic
    | MoveReplicas
    | AwaitMoves
    | AddPartitions
    | AlterResource
    | SetCredential
    | DeleteCredential
    | AlterQuotas
    | AddAcl
    | RemoveAcl
    | DeleteTopic
)


def in_order(changes: list[Change]) -> tuple[Change, ...]:
    """By stage; within one in the order in which they were planned."""
    return tuple(sorted(changes, key=lambda change: change.stage))
