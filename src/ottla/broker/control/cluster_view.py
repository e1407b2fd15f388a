"""A broker's id, its current config and the committed metadata image."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from ottla.configs import InvalidConfigError, NodeConfig
from ottla.controller.committed_metadata import CommittedMetadata
from ottla.metadata import MetadataImage
from ottla.model import NodeId

_log = logging.getLogger(__name__)

_UNREGISTERED: Final = -1


class ClusterView:
    """Created with the node and owned by its loop. Do not cache `config` or `image`: both are
    replaced when the metadata changes."""

    __slots__ = ("_listeners", "cluster_id", "config", "metadata", "node_id")

    def __init__(
        self, node_id: NodeId, config: NodeConfig, metadata: CommittedMetadata, *, cluster_id: str
    ) -> None:
        self.node_id = node_id
        # Includes the dynamic broker configs of the image.
        self.config = config
        self.metadata = metadata
        self.cluster_id = cluster_id
        self._listeners: list[Callable[[], None]] = []

    @property
    def image(self) -> MetadataImage:
        """The committed metadata that this node has applied."""
        return self.metadata.image

    def broker_epoch(self) -> int:
        """The epoch of this broker's registration, or -1 if it is not registered."""
        registration = self.image.brokers.get(self.node_id)
        return _UNREGISTERED if registration is None else registration.epoch

    def listen(self, on_config_changed: Callable[[], None]) -> None:
        self._listeners.append(on_config_changed)

    def follow_dynamic_configs(self) -> None:
        """Applies the image's dynamic broker configs for this node."""
        image, ignored = self.image, self.config.ignored
        known = self.config.without_effect()
        try:
            self.config = self.config.with_dynamic(
                cluster=image.cluster_configs, broker=image.broker_configs(self.node_id)
            )
        except InvalidConfigError as error:
            _log.warning("ignoring stored broker configs: %s", error.message)
        for name, reason in self.config.ignored.items() - ignored.items():
            _log.warning("stored broker config %s is ignored: %s", name, reason)
        for name in self.config.without_effect():
            if name not in known:
                _log.warning("Ottla accepts the stored broker config %s without effect", name)
        for on_config_changed in self._listeners:
            on_config_changed()
