"""Reads the state of a cluster, over the protocol itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ottla.cli.cluster_state.described_configs import describe_configs
from ottla.cli.cluster_state.present import (
    PresentConfigs,
    PresentPartition,
    PresentState,
    PresentTopic,
)
from ottla.cli.connection.acl_requests import describe_request, described_bindings
from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.configs import ConfigResource, ConfigResourceType
from ottla.model import ErrorCode
from ottla.runtime.network import Address
from ottla.security.acls.acl import AclBinding
from ottla.security.acls.acl_filter import AclFilter
from ottla.security.sasl.scram_credential import ScramMechanism
from ottla.wire.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from ottla.wire.messages.list_config_resources import ListConfigResourcesRequest
from ottla.wire.messages.list_partition_reassignments import ListPartitionReassignmentsRequest


@dataclass(frozen=True, slots=True)
class WantedState:
    """What to read. None stands for all topics, brokers or groups."""

    topics: frozenset[str] | None = frozenset()
    brokers: frozenset[int] | None = frozenset()
    groups: frozenset[str] | None = frozenset()
    cluster: bool = False
    users: bool = False
    acls: bool = False


EVERYTHING: Final = WantedState(None, None, None, cluster=True, users=True, acls=True)


async def read_state(admin: ClusterAdmin, wanted: WantedState) -> PresentState:
    """Raises CommandError. Reads configs of the wanted topics only, but the partitions of all."""
    metadata = await admin.metadata()
    racks = {broker.node_id: broker.rack for broker in metadata.brokers}
    addresses = {broker.node_id: Address(broker.host, broker.port) for broker in metadata.brokers}
    topics = await _topics(admin, metadata)
    named = wanted.topics
    described = sorted(name for name in topics if named is None or name in named)
    for name, configs in (await _configs(admin, ConfigResourceType.TOPIC, described)).items():
        topics[name] = replace(topics[name], configs=configs)
    brokers = racks.keys() if wanted.brokers is None else racks.keys() & wanted.brokers
    groups = wanted.groups
    group_names = await _groups(admin) if groups is None else sorted(groups)
    return PresentState(
        brokers=racks,
        topics=topics,
        cluster=await _cluster(admin, addresses) if wanted.cluster else {},
        broker_configs={
            broker: await _broker(admin, broker, addresses[broker]) for broker in sorted(brokers)
        },
        groups=await _configs(admin, ConfigResourceType.GROUP, group_names),
        users=await _users(admin) if wanted.users else {},
        acls=await _acls(admin) if wanted.acls else frozenset(),
    )


async def moving_partitions(admin: ClusterAdmin) -> dict[tuple[str, int], tuple[int, ...]]:
    """The partitions whose reassignment is in progress, with the replicas that they will have."""
    response = await admin.send_request(ListPartitionReassignmentsRequest())
    if response.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        # Moving replicas needs more rights than this, so such a user does not need the moves.
        return {}
    if response.error_code:
        raise refusal("list reassignments", response.error_code, response.error_message)
    return {
        (topic.name, partition.partition_index): tuple(
            replica for replica in partition.replicas if replica not in partition.removing_replicas
        )
        for topic in response.topics
        for partition in topic.partitions
    }


async def _topics(admin: ClusterAdmin, metadata: Any) -> dict[str, PresentTopic]:
    moving = await moving_partitions(admin)
    found = {}
    for topic in metadata.topics:
        if topic.error_code == ErrorCode.NONE:
            partitions = sorted(topic.partitions, key=lambda each: int(each.partition_index))
            found[topic.name] = PresentTopic(
                tuple(
                    PresentPartition(
                        moving.get((topic.name, each.partition_index), tuple(each.replica_nodes)),
                        (topic.name, each.partition_index) in moving,
                    )
                    for each in partitions
                ),
                topic.is_internal,
            )
    return found


async def _configs(
    admin: ClusterAdmin, kind: ConfigResourceType, names: Iterable[str]
) -> dict[str, PresentConfigs]:
    resources = [ConfigResource(kind, name) for name in names]
    found = await describe_configs(admin, resources)
    return {resource.name: configs for resource, configs in found.items()}


async def _broker(admin: ClusterAdmin, broker: int, address: Address) -> PresentConfigs:
    resource = ConfigResource(ConfigResourceType.BROKER, str(broker))
    return (await describe_configs(admin, [resource], address=address))[resource]


async def _cluster(admin: ClusterAdmin, addresses: Mapping[int, Address]) -> PresentConfigs:
    """The defaults that are set. The others are those of some broker, whose own value says the
    type, and what is in effect without a default."""
    resource = ConfigResource(ConfigResourceType.BROKER, "")
    found = dict((await describe_configs(admin, [resource]))[resource])
    for broker in sorted(addresses)[:1]:
        known = await _broker(admin, broker, addresses[broker])
        for name, config in known.items():
            default = found.get(name, config._replace(is_set=False))
            found[name] = default._replace(type=config.type, is_read_only=config.is_read_only)
    return found


async def _groups(admin: ClusterAdmin) -> list[str]:
    """The groups that have configs of their own."""
    request = ListConfigResourcesRequest(resource_types=[ConfigResourceType.GROUP])
    response = await admin.send_request(request)
    if response.error_code:
        raise refusal("list the groups with configs", response.error_code, None)
    return sorted(
        each.resource_name
        for each in response.config_resources
        if each.resource_type == ConfigResourceType.GROUP
    )


async def _users(admin: ClusterAdmin) -> dict[str, dict[ScramMechanism, int]]:
    response = await admin.send_request(DescribeUserScramCredentialsRequest(users=None))
    if response.error_code:
        raise refusal("list the users", response.error_code, response.error_message)
    return {
        result.user: {
            ScramMechanism(each.mechanism): each.iterations for each in result.credential_infos
        }
        for result in response.results
        if not result.error_code
    }


async def _acls(admin: ClusterAdmin) -> frozenset[AclBinding] | None:
    response = await admin.send_request(describe_request(AclFilter()))
    if response.error_code == ErrorCode.SECURITY_DISABLED:
        return None
    if response.error_code:
        raise refusal("list the ACLs", response.error_code, response.error_message)
    # What a newer cluster has and this version does not know is left alone.
    return frozenset(binding for binding in described_bindings(response) if _is_known(binding))


def _is_known(binding: AclBinding) -> bool:
    (kind, _, pattern_type), entry = binding
    return all((kind, pattern_type, entry.operation, entry.permission))
