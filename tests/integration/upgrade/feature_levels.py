"""The levels of a cluster's features, and changes of them."""

from __future__ import annotations

from collections.abc import Mapping

from ottla.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster, wait_until

_UPGRADE, _SAFE_DOWNGRADE = 1, 2
_API_VERSIONS_VERSION = 4
_UPDATE_FEATURES_VERSION = 1


def finalized_levels(cluster: ClusterProcesses, node: NodeOfCluster) -> dict[str, int]:
    """As a node knows them; a feature at level 0 is not among them."""
    features = _api_versions(cluster, node).finalized_features
    return {each.name: each.max_version_level for each in features}


def highest_levels(cluster: ClusterProcesses, node: NodeOfCluster) -> dict[str, int]:
    """What the node's version supports."""
    supported = _api_versions(cluster, node).supported_features
    return {each.name: each.max_version for each in supported}


def change_levels(cluster: ClusterProcesses, wanted: Mapping[str, int]) -> dict[str, int]:
    """Sets these levels, and waits until every node knows them. Returns the changes."""
    present = finalized_levels(cluster, cluster.brokers[0])
    changes = {name: level for name, level in wanted.items() if level != present.get(name, 0)}
    updates = [
        FeatureUpdateKey(
            feature=name,
            max_version_level=level,
            upgrade_type=_UPGRADE if level > present.get(name, 0) else _SAFE_DOWNGRADE,
        )
        for name, level in changes.items()
    ]
    if updates:
        with cluster.connect(cluster.brokers[0]) as connection:
            request = UpdateFeaturesRequest(feature_updates=updates)
            response = connection.send_request(request, _UPDATE_FEATURES_VERSION)
        assert not response.error_code, response.error_message
        refused = [each for each in response.results if each.error_code]
        assert not refused, refused

    def are_set() -> bool:
        return all(
            finalized_levels(cluster, node).get(name, 0) == level
            for node in cluster.brokers
            for name, level in changes.items()
        )

    wait_until(are_set, f"every node knows {changes}")
    return changes


def _api_versions(cluster: ClusterProcesses, node: NodeOfCluster) -> ApiVersionsResponse:
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    with cluster.connect(node) as connection:
        response: ApiVersionsResponse = connection.send_request(request, _API_VERSIONS_VERSION)
    return response
