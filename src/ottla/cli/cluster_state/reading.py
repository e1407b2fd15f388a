"""Reads the state of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ottla.cli.cluster_state.described_configs import describe_configs
from ottla.cli.cluster_state.present import (
    PresentConfigs,
    PresentPartition,
    PresentState,
    PresentTopic,
)
from ottla.cli.connection.admin_connection import doing
from ottla.client.administration.admin import Admin
from ottla.client.administration.topics import TopicDescription
from ottla.client.errors import ApiError, ClusterAuthorizationError
from ottla.configs import ConfigResource, ConfigResourceType
from ottla.model import ErrorCode, TopicPartition
from ottla.quotas.entities import QuotaEntity
from ottla.security.acls.acl import AclBinding
from ottla.security.sasl.scram_credential import ScramMechanism


@dataclass(frozen=True, slots=True)
class WantedState:
    """What to read. None stands for all topics, brokers, groups or subscriptions."""

    topics: frozenset[str] | None = frozenset()
    brokers: frozenset[int] | None = frozenset()
    groups: frozenset[str] | None = frozenset()
    cluster: bool = False
    users: bool = False
    acls: bool = False
    quotas: bool = False
    client_metrics: frozenset[str] | None = frozenset()


EVERYTHING: Final = WantedState(
    None, None, None, cluster=True, users=True, acls=True, quotas=True, client_metrics=None
)


async def read_state(admin: Admin, wanted: WantedState) -> PresentState:
    """Raises CommandError. Reads configs of the wanted topics only, but the partitions of all."""
    with doing("describe the cluster"):
        cluster, listed = await admin.describe_cluster(), await admin.list_topics()
    racks = {broker.id: broker.rack for broker in cluster.brokers}
    topics = await _topics(admin, listed)
    named = wanted.topics
    described = sorted(name for name in topics if named is None or name in named)
    for name, configs in (await _configs(admin, ConfigResourceType.TOPIC, described)).items():
        topics[name] = replace(topics[name], configs=configs)
    brokers = racks.keys() if wanted.brokers is None else racks.keys() & wanted.brokers
    groups = await _named(admin, ConfigResourceType.GROUP, wanted.groups)
    metrics = await _named(admin, ConfigResourceType.CLIENT_METRICS, wanted.client_metrics)
    return PresentState(
        brokers=racks,
        topics=topics,
        cluster=await _cluster(admin, racks) if wanted.cluster else {},
        broker_configs={broker: await _broker(admin, broker) for broker in sorted(brokers)},
        groups=await _configs(admin, ConfigResourceType.GROUP, groups),
        users=await _users(admin) if wanted.users else {},
        acls=await _acls(admin) if wanted.acls else frozenset(),
        quotas=await _quotas(admin) if wanted.quotas else {},
        client_metrics=await _configs(admin, ConfigResourceType.CLIENT_METRICS, metrics),
    )


async def moving_partitions(admin: Admin) -> dict[TopicPartition, tuple[int, ...]]:
    """The partitions whose reassignment is in progress, with the replicas that they will have."""
    with doing("list reassignments"):
        try:
            found = await admin.list_partition_reassignments()
        except ClusterAuthorizationError:
            # Moving replicas needs more rights than this, so such a user does not need the moves.
            return {}
    return {
        name: tuple(replica for replica in move.replicas if replica not in move.removing)
        for name, move in found.items()
    }


async def _topics(admin: Admin, listed: Mapping[str, TopicDescription]) -> dict[str, PresentTopic]:
    moving = await moving_partitions(admin)
    found = {}
    for name, topic in listed.items():
        partitions = []
        for each in topic.partitions:
            move = moving.get(TopicPartition(name, each.partition))
            partitions.append(PresentPartition(move or each.replicas, move is not None))
        found[name] = PresentTopic(tuple(partitions), topic.is_internal)
    return found


async def _configs(
    admin: Admin, kind: ConfigResourceType, names: Iterable[str]
) -> dict[str, PresentConfigs]:
    resources = [ConfigResource(kind, name) for name in names]
    found = await describe_configs(admin, resources)
    return {resource.name: configs for resource, configs in found.items()}


async def _broker(admin: Admin, broker: int) -> PresentConfigs:
    resource = ConfigResource(ConfigResourceType.BROKER, str(broker))
    return (await describe_configs(admin, [resource]))[resource]


async def _cluster(admin: Admin, brokers: Iterable[int]) -> PresentConfigs:
    """The defaults that are set. The others are those of some broker, whose own value says the
    type, and what is in effect without a default."""
    resource = ConfigResource(ConfigResourceType.BROKER, "")
    found = dict((await describe_configs(admin, [resource]))[resource])
    for broker in sorted(brokers)[:1]:
        known = await _broker(admin, broker)
        for name, config in known.items():
            default = found.get(name, config._replace(is_set=False))
            found[name] = default._replace(type=config.type, is_read_only=config.is_read_only)
    return found


async def _named(admin: Admin, kind: ConfigResourceType, names: frozenset[str] | None) -> list[str]:
    """These resources, or all of a kind that have configs of their own."""
    if names is not None:
        return sorted(names)
    with doing(f"list the {kind.name.lower().replace('_', ' ')} resources with configs"):
        found = await admin.list_config_resources([kind])
    return [each.name for each in found if each.type is kind]


async def _quotas(admin: Admin) -> dict[QuotaEntity, dict[str, float]]:
    with doing("list the quotas"):
        return await admin.describe_client_quotas()


async def _users(admin: Admin) -> dict[str, dict[ScramMechanism, int]]:
    with doing("list the users"):
        results = await admin.describe_user_scram_credentials()
    return {
        user: {each.mechanism: each.iterations for each in credentials}
        for user, credentials in results.succeeded.items()
    }


async def _acls(admin: Admin) -> frozenset[AclBinding] | None:
    with doing("list the ACLs"):
        try:
            found = await admin.describe_acls()
        except ApiError as error:
            if error.code is ErrorCode.SECURITY_DISABLED:
                return None
            raise
    # What a newer cluster has and this version does not know is left alone.
    return frozenset(filter(_is_known, found))


def _is_known(binding: AclBinding) -> bool:
    (kind, _, pattern_type), entry = binding
    return all((kind, pattern_type, entry.operation, entry.permission))
