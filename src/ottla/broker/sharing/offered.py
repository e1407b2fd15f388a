"""Whether the cluster offers share groups: a feature level decides (KIP-932, KIP-1191)."""

from __future__ import annotations

from ottla.broker.control.cluster_view import ClusterView
from ottla.metadata.features import SHARE_VERSION
from ottla.model import ErrorCode, KafkaError


def check_offered(cluster: ClusterView) -> None:
    """Raises UNSUPPORTED_VERSION if share.version is 0."""
    if cluster.image.features.get(SHARE_VERSION, 0) < 1:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION,
            "share groups are switched off in this cluster; set the feature share.version to 1",
        )
