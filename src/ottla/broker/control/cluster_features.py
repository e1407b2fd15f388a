"""Supported and finalized features of the cluster, for ApiVersions (KIP-584)."""

from __future__ import annotations

from ottla.broker.control.cluster_view import ClusterView
from ottla.controller.quorum import MetadataQuorum
from ottla.metadata import SUPPORTED_FEATURES, VersionRange
from ottla.metadata.features import KRAFT_VERSION


class ClusterFeatures:
    """One per node. Owned by the node's loop."""

    def __init__(self, cluster: ClusterView, quorum: MetadataQuorum) -> None:
        self._cluster = cluster
        self._quorum = quorum

    @property
    def supported(self) -> dict[str, VersionRange]:
        return SUPPORTED_FEATURES

    @property
    def finalized(self) -> dict[str, int]:
        # kraft.version is stored in the quorum's control records, not in the metadata image.
        level = self._quorum.kraft_version
        return {**self._cluster.image.features, **({KRAFT_VERSION: level} if level else {})}

    @property
    def finalized_epoch(self) -> int:
        return self._cluster.metadata.end_offset - 1
