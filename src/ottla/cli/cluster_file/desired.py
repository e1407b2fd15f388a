"""What the files say that a cluster shall have. Each part knows its place in the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from ottla.cli.cluster_file.mistakes import Place
from ottla.quotas.entities import QuotaEntity
from ottla.security.acls.acl import AclBinding
from ottla.security.sasl.scram_credential import ScramMechanism


class SecretKind(StrEnum):
    FILE = "password_file"
    ENVIRONMENT = "password_env"


class SecretSource(NamedTuple):
    """Where a secret is: a file, relative to the directory of the file that names it, or a
    variable of the environment."""

    place: Place
    kind: SecretKind
    name: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


class DesiredValue(NamedTuple):
    """The value of a config: a text, or a secret from a source. Neither: a secret that is set
    already and stays as it is (`sensitive: true`)."""

    place: Place
    text: str | None
    secret: SecretSource | None = None


DesiredConfigs: TypeAlias = Mapping[str, DesiredValue]


class DesiredResource(NamedTuple):
    """A broker, a group or a subscription to client metrics, with its configs."""

    place: Place
    configs: DesiredConfigs


@dataclass(frozen=True, slots=True)
class DesiredTopic:
    """What is None is up to the cluster. `assignment` has the replicas of each partition, the
    preferred leader first; then `partitions` is its length."""

    place: Place
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: tuple[tuple[int, ...], ...] | None = None
    configs: DesiredConfigs = field(default_factory=dict)


class DesiredQuota(NamedTuple):
    place: Place
    value: float


class DesiredQuotas(NamedTuple):
    """Of one entity: a user, a client id, both, or an address."""

    place: Place
    limits: Mapping[str, DesiredQuota]


class DesiredCredential(NamedTuple):
    place: Place
    # None: any number will do, and a new credential gets the default.
    iterations: int | None


@dataclass(frozen=True, slots=True)
class DesiredUser:
    """Without a password, the user must have the credentials already."""

    place: Place
    mechanisms: Mapping[ScramMechanism, DesiredCredential]
    password: SecretSource | None = None


class ManagedKind(StrEnum):
    """The kinds of resources that `manages` may name: those that --prune can delete whole."""

    TOPICS = "topics"
    GROUPS = "groups"
    BROKERS = "brokers"
    USERS = "users"
    ACLS = "acls"
    QUOTAS = "quotas"
    CLIENT_METRICS = "client_metrics"


def matches(patterns: tuple[str, ...], name: str) -> bool:
    """Whether a pattern is the name, or ends in * and is the beginning of the name."""
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
        for pattern in patterns
    )


@dataclass(slots=True)
class DesiredState:
    """All files together. A kind that `manages` lacks is never deleted as a whole resource."""

    topics: dict[str, DesiredTopic] = field(default_factory=dict)
    # The cluster-wide defaults of the brokers' configs, and where that section is, if there is one.
    cluster: dict[str, DesiredValue] = field(default_factory=dict)
    cluster_place: Place | None = None
    brokers: dict[int, DesiredResource] = field(default_factory=dict)
    groups: dict[str, DesiredResource] = field(default_factory=dict)
    users: dict[str, DesiredUser] = field(default_factory=dict)
    acls: dict[AclBinding, Place] = field(default_factory=dict)
    quotas: dict[QuotaEntity, DesiredQuotas] = field(default_factory=dict)
    client_metrics: dict[str, DesiredResource] = field(default_factory=dict)
    manages: dict[ManagedKind, tuple[str, ...]] = field(default_factory=dict)

    def is_managed(self, kind: ManagedKind, name: str) -> bool:
        return matches(self.manages.get(kind, ()), name)
