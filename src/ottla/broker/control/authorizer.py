"""The authorizer of a node: follows the ACLs of the metadata, and makes the rights of clients."""

from __future__ import annotations

from collections.abc import Mapping

from ottla.configs import NodeConfig
from ottla.controller.committed_metadata import CommittedMetadata
from ottla.metadata import MetadataDelta
from ottla.security.acls.authorizer import StandardAuthorizer
from ottla.security.acls.rights import OnDecision, Rights
from ottla.security.client_host import host_text
from ottla.security.principal import Principal


class Authorizer:
    """Owned by the node's loop. Without `authorizer.class.name` everything is allowed."""

    def __init__(self, metadata: CommittedMetadata, config: NodeConfig) -> None:
        # Called for each decision that is not cached and not silent, for the audit log. Applies to
        # the rights that are made after it is set.
        self.on_decision: OnDecision | None = None
        self._metadata = metadata
        # Whether the image has been loaded: a controller listens before it is.
        self._is_loaded = not metadata.image.is_empty
        self._acls: StandardAuthorizer | None = None
        if config.authorizer_class_name:
            self._acls = StandardAuthorizer(
                super_users=config.super_users,
                allows_everyone_if_no_acl_found=config.allow_everyone_if_no_acl_found,
            )
            self._acls.unload()
            if self._is_loaded:
                self._acls.follow(metadata.image.access_control_entries)
            metadata.listen(self._metadata_changed)

    @property
    def decisions(self) -> Mapping[bool, int]:
        """The number of decisions that allowed and that denied something."""
        return {} if self._acls is None else self._acls.decisions

    def rights_of(self, principal: Principal, host: str) -> Rights:
        """The rights of a principal that sends requests from a host."""
        return Rights(self._acls, principal, host_text(host), on_decision=self.on_decision)

    def _metadata_changed(self, delta: MetadataDelta) -> None:
        if self._acls is not None and (delta.access_control_changed or not self._is_loaded):
            self._is_loaded = True
            self._acls.follow(self._metadata.image.access_control_entries)
