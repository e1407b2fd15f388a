"""The ACLs, credentials and tokens in a node's image, recorded with each change.

It reads the image itself, not the changes that are reported to the node's listeners.
"""

from __future__ import annotations

from typing import Final

from ottla.broker.broker import Broker
from ottla.configs.value import Password
from ottla.metadata import MetadataDelta, MetadataImage
from ottla.model import Uuid
from ottla.security.acls.acl import AclBinding
from ottla.security.tokens import hmac_of
from ottla.simulation.access.security_changes import hmac_digest
from ottla.simulation.history.security_events import (
    AclsKnown,
    CredentialsKnown,
    KnownCredential,
    KnownToken,
    acl_key,
)
from ottla.simulation.world.node import SimulatedNode

_NO_IMAGE: Final = -1


class KnownSecurity:
    """Of one node across all of its processes. The versions count up over all of them."""

    def __init__(self, simulated: SimulatedNode) -> None:
        self._name = simulated.name
        self._record = simulated.record
        self._acl_version = self._credential_version = 0

    def topic_name(self, topic_id: Uuid) -> str | None:
        topic = self._metadata.image.topics.by_id.get(topic_id)
        return None if topic is None else topic.name

    def attach(self, broker: Broker) -> None:
        """Continues with the image of a new process."""
        self._metadata = broker.metadata
        secret_key = broker.config.delegation_token_secret_key
        assert secret_key is not None, "a secured world has tokens"
        self._secret_key = secret_key
        self._offset = _NO_IMAGE
        self.record_all()
        broker.metadata.listen(self._metadata_changed)

    @property
    def acl_version(self) -> int:
        """The version of the ACLs in the image now."""
        self._look()
        return self._acl_version

    @property
    def credential_version(self) -> int:
        """The version of the credentials and tokens in the image now."""
        self._look()
        return self._credential_version

    def record_all(self) -> None:
        """Records what the image has, whether or not it has changed."""
        image = self._metadata.image
        self._is_loaded = not image.is_empty
        self._acl_ids = set(image.access_control_entries)
        self._credentials = _credentials(image)
        self._tokens = _tokens(image, self._secret_key)
        self._record_acls()
        self._record_credentials()

    def _metadata_changed(self, _delta: MetadataDelta) -> None:
        self._look()

    def _look(self) -> None:
        if self._metadata.end_offset == self._offset:
            return
        self._offset = self._metadata.end_offset
        image = self._metadata.image
        if not self._is_loaded:
            self.record_all()
            return
        # Entries are added and removed, never changed.
        if image.access_control_entries.keys() != self._acl_ids:
            self._acl_ids = set(image.access_control_entries)
            self._record_acls()
        credentials, tokens = _credentials(image), _tokens(image, self._secret_key)
        if (credentials, tokens) != (self._credentials, self._tokens):
            self._credentials, self._tokens = credentials, tokens
            self._record_credentials()

    def _record_acls(self) -> None:
        acls, offset = None, _NO_IMAGE
        if self._is_loaded:
            acls, offset = _acls(self._metadata.image), self._metadata.end_offset
        self._acl_version += 1
        self._record(AclsKnown(self._name, self._acl_version, offset, acls))

    def _record_credentials(self) -> None:
        credentials, offset = None, _NO_IMAGE
        if self._is_loaded:
            credentials, offset = self._credentials, self._metadata.end_offset
        self._credential_version += 1
        version = self._credential_version
        self._record(CredentialsKnown(self._name, version, offset, credentials, self._tokens))


def _acls(image: MetadataImage) -> tuple[AclBinding, ...]:
    return tuple(
        sorted(map(AclBinding.of_record, image.access_control_entries.values()), key=acl_key)
    )


def _credentials(image: MetadataImage) -> tuple[KnownCredential, ...]:
    return tuple(
        KnownCredential(user, mechanism, record.stored_key.hex())
        for (user, mechanism), record in sorted(image.scram_credentials.items())
    )


def _tokens(image: MetadataImage, secret_key: Password) -> tuple[KnownToken, ...]:
    return tuple(
        KnownToken(
            token_id, hmac_digest(hmac_of(token_id, secret_key)), record.expiration_timestamp
        )
        for token_id, record in sorted(image.delegation_tokens.items())
    )
