"""The cluster: its brokers and its features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

from ottla.client.administration.authorized import authorized_operations
from ottla.client.administration.requests import AdminRequests, outcome, require
from ottla.client.administration.results import Results
from ottla.security.acls.acl import AclOperation
from ottla.version import __version__
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.describe_cluster import DescribeClusterRequest
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest
from ottla.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest


class BrokerDescription(NamedTuple):
    """A broker with the address that it advertises on the listener of this client. A fenced one
    serves no clients."""

    id: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool = False


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    """`controller_id` is a broker that takes requests for the active controller, None if there is
    none now. `brokers` are in order of their ids."""

    cluster_id: str
    controller_id: int | None
    brokers: tuple[BrokerDescription, ...]
    authorized_operations: frozenset[AclOperation] | None = None


class FeatureVersions(NamedTuple):
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class FeaturesDescription:
    """`finalized` are the versions that the cluster uses, as of `epoch`; `supported` are those of
    the node that answered."""

    finalized: Mapping[str, int]
    supported: Mapping[str, FeatureVersions]
    epoch: int | None


class FeatureUpgrade(IntEnum):
    """What a change of a feature's version may do; the codes are Kafka's."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


class ClusterOperations(AdminRequests):
    """The methods of `Admin` for the cluster itself."""

    async def describe_cluster(
        self,
        *,
        include_fenced_brokers: bool = False,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> ClusterDescription:
        """Its id and its brokers. A cluster before Kafka 4.0 leaves fenced brokers out."""
        request = DescribeClusterRequest(
            include_fenced_brokers=include_fenced_brokers,
            include_cluster_authorized_operations=include_authorized_operations,
        )

        async def attempt() -> ClusterDescription:
            answer = await self._cluster.send_to_any(request)
            require(answer.error_code, answer.error_message)
            return _cluster(answer)

        return await self._retrying("describe the cluster", attempt, timeout)

    async def describe_features(self, *, timeout: float | None = None) -> FeaturesDescription:
        """The features of the cluster, such as `metadata.version`."""
        request = ApiVersionsRequest(
            client_software_name="ottla", client_software_version=__version__
        )

        async def attempt() -> FeaturesDescription:
            answer = await self._cluster.send_to_any(request)
            require(answer.error_code)
            return _features(answer)

        return await self._retrying("describe the features", attempt, timeout)

    async def update_features(
        self,
        versions: Mapping[str, int],
        *,
        upgrade: FeatureUpgrade = FeatureUpgrade.UPGRADE,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Finalizes other versions of features; 0 removes one."""
        deadline = self._deadline(timeout)

        async def attempt() -> Any:
            answer = await self._cluster.send_to_controller(
                UpdateFeaturesRequest(
                    timeout_ms=self._remaining_ms(deadline),
                    feature_updates=[
                        FeatureUpdateKey(
                            feature=name,
                            max_version_level=version,
                            allow_downgrade=upgrade is not FeatureUpgrade.UPGRADE,
                            upgrade_type=upgrade,
                        )
                        for name, version in versions.items()
                    ],
                    validate_only=validate_only,
                )
            )
            require(answer.error_code, answer.error_message)
            return answer

        answer = await self._retrying("update features", attempt, timeout)
        of_each = {each.feature: each for each in answer.results}
        return Results(
            {
                name: outcome(None, of_each[name].error_code, of_each[name].error_message)
                if name in of_each
                else None
                for name in versions
            }
        )

    async def unregister_broker(self, broker_id: int, *, timeout: float | None = None) -> None:
        """Removes a broker that is down and will not return."""
        await self._ask_controller(
            f"unregister broker {broker_id}",
            UnregisterBrokerRequest(broker_id=broker_id),
            timeout,
            lambda answer: require(answer.error_code, answer.error_message),
        )


def _cluster(answer: Any) -> ClusterDescription:
    brokers = (
        BrokerDescription(each.broker_id, each.host, each.port, each.rack, each.is_fenced)
        for each in answer.brokers
    )
    return ClusterDescription(
        answer.cluster_id,
        None if answer.controller_id < 0 else answer.controller_id,
        tuple(sorted(brokers)),
        authorized_operations(answer.cluster_authorized_operations),
    )


def _features(answer: Any) -> FeaturesDescription:
    return FeaturesDescription(
        {each.name: each.max_version_level for each in answer.finalized_features},
        {
            each.name: FeatureVersions(each.min_version, each.max_version)
            for each in answer.supported_features
        },
        None if answer.finalized_features_epoch < 0 else answer.finalized_features_epoch,
    )
