"""The ACLs, credentials and tokens in a node's image, recorded with each change."""

from __future__ import annotations

from typing import Final

from ottla.broker.broker import Broker
from ottla.configs.value import Password
from ottla.metadata import MetadataDelta, MetadataImage
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
        self.acl_version = 0
        self.credential_version = 0
        self._is_loaded = False

    def attach(self, broker: Broker) -> None:
        """Continues with the image of a new process."""
        self._broker = broker
        self._is_loaded = not broker.metadata.image.is_empty
        self.record_all()

    def record_all(self) -> None:
        self._record_acls()
        self._record_credentials()

    def changed(self, delta: MetadataDelta) -> None:
        if not self._is_loaded:
            self._is_loaded = True
            self.record_all()
            return
        if delta.access_control_changed:
            self._record_acls()
        if delta.scram_credentials_changed or delta.delegation_tokens_changed:
            self._record_credentials()

    def _record_acls(self) -> None:
        metadata = self._broker.metadata
        acls, offset = None, _NO_IMAGE
        if self._is_loaded:
            acls, offset = _acls(metadata.image), metadata.end_offset
        self.acl_version += 1
        self._record(AclsKnown(self._name, self.acl_version, offset, acls))

    def _record_credentials(self) -> None:
        metadata = self._broker.metadata
        credentials, tokens, offset = None, (), _NO_IMAGE
        if self._is_loaded:
            credentials, offset = _credentials(metadata.image), metadata.end_offset
            secret_key = self._broker.config.delegation_token_secret_key
            assert secret_key is not None, "a secured world has tokens"
            tokens = _tokens(metadata.image, secret_key)
        self.credential_version += 1
        self._record(
            CredentialsKnown(self._name, self.credential_version, offset, credentials, tokens)
        )


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
