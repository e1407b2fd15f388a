"""The server's side of each SASL mechanism that a listener enables, and where it looks users up.

| mechanism | users |
|---|---|
| PLAIN | the options user_NAME of the listener's JAAS entry |
| SCRAM-SHA-256, SCRAM-SHA-512 | credentials in the metadata log, and delegation tokens |
| OAUTHBEARER | tokens that a known key has signed |

Listeners of controllers use credentials that are not committed yet as well (`LoggedUsers`).
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final, TypeAlias

from ottla.broker.control.cluster_view import ClusterView
from ottla.configs import InvalidConfigError
from ottla.configs.listener_security import SaslSettings
from ottla.configs.value import Password
from ottla.metadata import MetadataDelta, MetadataImage
from ottla.runtime.dice import Dice
from ottla.security.jaas import JaasEntry, parse_jaas
from ottla.security.sasl.mechanism import Mechanism, ServerMechanism
from ottla.security.sasl.oauthbearer import OAuthBearerServer, TokenVerifier
from ottla.security.sasl.plain import PlainServer, users_of
from ottla.security.sasl.scram import ScramServer, ScramUsers, TokenCredential
from ottla.security.sasl.scram_credential import (
    SCRAM_BY_NAME,
    ScramCredential,
    ScramMechanism,
    random_text,
)
from ottla.security.sasl.scram_unknown_users import UnknownUsers
from ottla.security.tokens import DelegationToken, TokenCredentials
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord

_LOGIN_MODULES: Final = {
    Mechanism.PLAIN: "PlainLoginModule",
    Mechanism.SCRAM_SHA_256: "ScramLoginModule",
    Mechanism.SCRAM_SHA_512: "ScramLoginModule",
    Mechanism.OAUTHBEARER: "OAuthBearerLoginModule",
}


# The credential of a user for a mechanism, by the mechanism's code.
CredentialOf: TypeAlias = Callable[[str, int], UserScramCredentialRecord | None]


class SaslServers:
    """Makes mechanisms for the listeners of a node. Users are looked up in the metadata as it is
    when they authenticate."""

    def __init__(
        self,
        image: Callable[[], MetadataImage],
        credential_of_controller: CredentialOf,
        dice: Dice,
        *,
        token_secret_key: Password | None,
        unknown_user_secret: bytes,
    ) -> None:
        """`unknown_user_secret` must be the same on all nodes: it decides the challenges that
        unknown users get."""
        self._image = image
        self._nonce = partial(random_text, dice.below)
        self._token_secret_key = token_secret_key
        self._unknown = {
            mechanism: UnknownUsers(
                mechanism, unknown_user_secret, partial(self._credentials, mechanism)
            )
            for mechanism in ScramMechanism
        }
        self._credential_of_controller = credential_of_controller

    def mechanisms(
        self,
        sasl: SaslSettings,
        *,
        listener: str,
        is_controller: bool,
        verifier: TokenVerifier | None,
    ) -> dict[str, Callable[[], ServerMechanism]]:
        """By name. `is_controller` says whether it is a listener of a controller. Raises
        InvalidConfigError."""
        credential_of = self._credential_of_controller if is_controller else self._committed
        return {
            name: self._factory(Mechanism(name), sasl, listener, credential_of, verifier)
            for name in sasl.enabled_mechanisms
        }

    def metadata_changed(self, delta: MetadataDelta) -> None:
        if delta.scram_credentials_changed:
            for unknown in self._unknown.values():
                unknown.known_changed()

    def _factory(
        self,
        mechanism: Mechanism,
        sasl: SaslSettings,
        listener: str,
        credential_of: CredentialOf,
        verifier: TokenVerifier | None,
    ) -> Callable[[], ServerMechanism]:
        if mechanism is Mechanism.PLAIN:
            users = users_of(jaas_entry(mechanism, sasl.jaas, listener=listener).options)
            return lambda: PlainServer(users)
        if mechanism is Mechanism.OAUTHBEARER:
            assert verifier is not None, "the settings have the URL of the keys"
            return lambda: OAuthBearerServer(verifier)
        scram = SCRAM_BY_NAME[mechanism]
        scram_users = self._scram_users(scram, credential_of)
        return lambda: ScramServer(scram, scram_users, nonce=self._nonce)

    def _scram_users(self, mechanism: ScramMechanism, credential_of: CredentialOf) -> ScramUsers:
        tokens: Callable[[str], TokenCredential | None] = _no_token
        if self._token_secret_key is not None:
            tokens = TokenCredentials(mechanism, self._token, secret_key=self._token_secret_key)
        return ScramUsers(
            credential_of=lambda name: _credential(credential_of(name, mechanism)),
            token_of=tokens,
            unknown=self._unknown[mechanism],
        )

    def _committed(self, name: str, mechanism: int) -> UserScramCredentialRecord | None:
        return self._image().scram_credentials.get((name, mechanism))

    def _credentials(self, mechanism: ScramMechanism) -> Iterator[ScramCredential]:
        for (_, of), record in self._image().scram_credentials.items():
            if of == mechanism:
                yield _credential_of(record)

    def _token(self, token_id: str) -> DelegationToken | None:
        record = self._image().delegation_tokens.get(token_id)
        return None if record is None else DelegationToken.from_record(record)


def make_sasl_servers(
    cluster: ClusterView, credential_of_controller: CredentialOf, dice: Dice
) -> SaslServers:
    secret_key = cluster.config.delegation_token_secret_key
    servers = SaslServers(
        lambda: cluster.image,
        credential_of_controller,
        dice,
        token_secret_key=secret_key,
        unknown_user_secret=_unknown_user_secret(cluster.cluster_id, secret_key),
    )
    cluster.metadata.listen(servers.metadata_changed)
    return servers


def _unknown_user_secret(cluster_id: str, secret_key: Password | None) -> bytes:
    """All nodes have the same. Who has not authenticated does not know the cluster's id, so the
    challenges are of no use for guessing the secret key."""
    key = "" if secret_key is None else secret_key.value
    return hmac.digest(key.encode(), cluster_id.encode(), "sha256")


def jaas_entry(mechanism: Mechanism, texts: Mapping[str, Password], *, listener: str) -> JaasEntry:
    """The JAAS entry of a mechanism. Raises InvalidConfigError, which does not contain the text."""
    setting = f"listener.name.{listener.lower()}.{mechanism.lower()}.sasl.jaas.config"
    text = texts.get(mechanism)
    if text is None:
        raise InvalidConfigError(f"{mechanism} needs credentials; set {setting}")
    try:
        entry = parse_jaas(text.value)
    except ValueError as error:
        raise InvalidConfigError(f"{setting} cannot be read: {error}") from None
    module = _LOGIN_MODULES[mechanism]
    if entry.module_name != module:
        raise InvalidConfigError(
            f"{setting} has the login module {entry.module_name}; {mechanism} needs {module}"
        )
    return entry


def _credential(record: UserScramCredentialRecord | None) -> ScramCredential | None:
    return None if record is None else _credential_of(record)


def _credential_of(record: UserScramCredentialRecord) -> ScramCredential:
    return ScramCredential(record.salt, record.stored_key, record.server_key, record.iterations)


def _no_token(token_id: str) -> TokenCredential | None:  # noqa: ARG001 - without a secret key
    return None
