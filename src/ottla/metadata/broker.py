"""The registrations of brokers and controllers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol, TypeVar

from ottla.model import Uuid
from ottla.wire.stored.cluster_metadata.brokers import (
    BrokerEndpoint,
    BrokerFeature,
    ControllerEndpoint,
    ControllerFeature,
    RegisterBrokerRecord,
    RegisterControllerRecord,
)

S = TypeVar("S")


class Endpoint(NamedTuple):
    """The address of a listener of a node."""

    name: str
    host: str
    port: int
    security_protocol: int


class VersionRange(NamedTuple):
    """The levels of a feature that a node supports, both ends inclusive."""

    min_supported_version: int
    max_supported_version: int

    def __contains__(self, level: object) -> bool:
        return isinstance(level, int) and self[0] <= level <= self[1]

    def __str__(self) -> str:
        return f"{self[0]}-{self[1]}"


class _Listener(Protocol):
    """An `Endpoint`, or the struct for it in a request or a record."""

    @property
    def name(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def security_protocol(self) -> int: ...


class _Feature(Protocol):
    """The struct for a feature in a request or a record."""

    name: str
    min_supported_version: int
    max_supported_version: int


def listener_structs(struct: Callable[..., S], listeners: Iterable[_Listener]) -> list[S]:
    """The listeners as structs of another class: each request and each record has its own."""
    return [
        struct(
            name=each.name,
            host=each.host,
            port=each.port,
            security_protocol=each.security_protocol,
        )
        for each in listeners
    ]


def feature_structs(struct: Callable[..., S], features: Mapping[str, VersionRange]) -> list[S]:
    """The features as structs of a request or a record."""
    return [
        struct(name=name, min_supported_version=low, max_supported_version=high)
        for name, (low, high) in features.items()
    ]


def version_ranges(features: Iterable[_Feature]) -> dict[str, VersionRange]:
    return {
        each.name: VersionRange(each.min_supported_version, each.max_supported_version)
        for each in features
    }


class BrokerRegistration(NamedTuple):
    """One incarnation of a broker. `epoch` is the offset of its registration."""

    id: int
    epoch: int
    incarnation_id: Uuid
    endpoints: tuple[Endpoint, ...]
    features: Mapping[str, VersionRange]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    is_migrating_zk_broker: bool
    log_dirs: tuple[Uuid, ...]
    # None if the broker never reported them (KIP-1066).
    cordoned_log_dirs: tuple[Uuid, ...] | None

    @property
    def is_active(self) -> bool:
        """Whether it may lead partitions."""
        return not self.fenced and not self.in_controlled_shutdown

    @classmethod
    def from_record(cls, record: RegisterBrokerRecord) -> BrokerRegistration:
        cordoned = record.cordoned_log_dirs
        return cls(
            id=record.broker_id,
            epoch=record.broker_epoch,
            incarnation_id=record.incarnation_id,
            endpoints=tuple(listener_structs(Endpoint, record.end_points)),
            features=version_ranges(record.features),
            rack=record.rack,
            fenced=record.fenced,
            in_controlled_shutdown=record.in_controlled_shutdown,
            is_migrating_zk_broker=record.is_migrating_zk_broker,
            log_dirs=tuple(record.log_dirs),
            cordoned_log_dirs=None if cordoned is None else tuple(cordoned),
        )

    def to_record(self) -> RegisterBrokerRecord:
        cordoned = self.cordoned_log_dirs
        return RegisterBrokerRecord(
            broker_id=self.id,
            is_migrating_zk_broker=self.is_migrating_zk_broker,
            incarnation_id=self.incarnation_id,
            broker_epoch=self.epoch,
            end_points=listener_structs(BrokerEndpoint, self.endpoints),
            features=feature_structs(BrokerFeature, self.features),
            rack=self.rack,
            fenced=self.fenced,
            in_controlled_shutdown=self.in_controlled_shutdown,
            log_dirs=list(self.log_dirs),
            cordoned_log_dirs=None if cordoned is None else list(cordoned),
        )


class ControllerRegistration(NamedTuple):
    """One incarnation of a controller."""

    id: int
    incarnation_id: Uuid
    zk_migration_ready: bool
    endpoints: tuple[Endpoint, ...]
    features: Mapping[str, VersionRange]

    @classmethod
    def from_record(cls, record: RegisterControllerRecord) -> ControllerRegistration:
        return cls(
            id=record.controller_id,
            incarnation_id=record.incarnation_id,
            zk_migration_ready=record.zk_migration_ready,
            endpoints=tuple(listener_structs(Endpoint, record.end_points)),
            features=version_ranges(record.features),
        )

    def to_record(self) -> RegisterControllerRecord:
        return RegisterControllerRecord(
            controller_id=self.id,
            incarnation_id=self.incarnation_id,
            zk_migration_ready=self.zk_migration_ready,
            end_points=listener_structs(ControllerEndpoint, self.endpoints),
            features=feature_structs(ControllerFeature, self.features),
        )
