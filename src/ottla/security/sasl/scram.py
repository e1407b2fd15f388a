"""SASL SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677): both sides prove that they know the
password, and neither sends it.

An unknown user receives a challenge and a full exchange, like a user with a wrong password
(`scram_unknown_users.py`). Kafka fails at once.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ottla.configs.value import Password
from ottla.security.sasl.mechanism import (
    AuthenticationError,
    Identity,
    InvalidCredentialsError,
    Mechanism,
    ServerReply,
)
from ottla.security.sasl.scram_credential import (
    ITERATIONS_MAX,
    ITERATIONS_MIN,
    ScramCredential,
    ScramMechanism,
    keys_of,
    salt_password,
)
from ottla.security.sasl.scram_messages import (
    TOKEN_AUTHENTICATION,
    ClientFinal,
    ClientFirst,
    ServerFirst,
    make_client_final,
    make_client_first,
    make_server_final,
    make_server_first,
    parse_client_final,
    parse_client_first,
    parse_server_final,
    parse_server_first,
)
from ottla.security.sasl.scram_unknown_users import UnknownUsers


class TokenCredential(NamedTuple):
    """A delegation token as a user: its id is the name, the Base64 of its HMAC the password."""

    credential: ScramCredential
    owner_name: str
    expires_at_ms: int


class ScramUsers(NamedTuple):
    """Where a server looks users up. Both functions return None for an unknown name; the second
    also for an expired token."""

    credential_of: Callable[[str], ScramCredential | None]
    token_of: Callable[[str], TokenCredential | None]
    unknown: UnknownUsers


class _Claim(NamedTuple):
    """Who the client says it is, and what it must prove."""

    credential: ScramCredential
    # None for an unknown user, who fails in the end.
    identity: Identity | None


class ScramServer:
    """WAITING_FIRST -> WAITING_FINAL -> done. An error ends it."""

    __slots__ = ("_claim", "_first", "_is_used", "_mechanism", "_nonce", "_server_first", "_users")

    def __init__(
        self, mechanism: ScramMechanism, users: ScramUsers, *, nonce: Callable[[], str]
    ) -> None:
        self._mechanism = mechanism
        self._users = users
        self._nonce = nonce
        self._first: ClientFirst | None = None
        self._server_first: ServerFirst | None = None
        self._claim: _Claim | None = None
        self._is_used = False

    def evaluate(self, message: bytes, *, now_ms: int) -> ServerReply:
        is_used, self._is_used = self._is_used, True
        try:
            if self._first is None and not is_used:
                return self._take_first(parse_client_first(message), now_ms)
            if self._first is None:
                raise ValueError("a message after the last one")
            first, self._first = self._first, None
            return self._take_final(first, parse_client_final(message))
        except ValueError as error:
            raise InvalidCredentialsError(f"{self._mechanism.mechanism}: {error}") from None

    def _take_first(self, first: ClientFirst, now_ms: int) -> ServerReply:
        if first.authorization_id not in ("", first.name):
            raise AuthenticationError("the authorization id must be empty or the user name")
        claim = self._claim_of(first, now_ms)
        nonce = self._nonce()
        assert nonce
        credential = claim.credential
        server_first = make_server_first(
            first.nonce + nonce, credential.salt, credential.iterations
        )
        self._first, self._server_first, self._claim = first, server_first, claim
        return ServerReply(server_first.text.encode())

    def _take_final(self, first: ClientFirst, final: ClientFinal) -> ServerReply:
        assert self._server_first is not None
        assert self._claim is not None
        credential, identity = self._claim
        if not hmac.compare_digest(final.nonce, self._server_first.nonce):
            raise ValueError("the nonce differs from the server's")
        if final.channel_binding != first.gs2_header.encode():
            raise ValueError("the GS2 header differs from that of the first message")
        message = _signed_message(first.bare, self._server_first.text, final.without_proof)
        hash_name = self._mechanism.hash_name
        signature = hmac.digest(credential.stored_key, message, hash_name)
        if len(final.proof) != len(signature):
            raise ValueError("the proof has the wrong length")
        client_key = _xor(final.proof, signature)
        stored_key = hashlib.new(hash_name, client_key).digest()
        is_proved = hmac.compare_digest(stored_key, credential.stored_key)
        if identity is None or not is_proved:
            raise ValueError("unknown user or wrong password")
        server_signature = hmac.digest(credential.server_key, message, hash_name)
        return ServerReply(make_server_final(server_signature), identity)

    def _claim_of(self, first: ClientFirst, now_ms: int) -> _Claim:
        # Made for known users too, so that both take as long.
        if first.is_token:
            unknown = _Claim(self._users.unknown.token_credential_of(first.name), None)
            token = self._users.token_of(first.name)
            if token is None or token.expires_at_ms <= now_ms:
                return unknown
            identity = Identity(token.owner_name, token.expires_at_ms, is_from_token=True)
            return _Claim(token.credential, identity)
        unknown = _Claim(self._users.unknown.credential_of(first.name), None)
        credential = self._users.credential_of(first.name)
        if credential is None or credential.iterations < ITERATIONS_MIN:
            return unknown
        return _Claim(credential, Identity(first.name))


class ScramClient:
    """Proves the password to a server, and makes the server prove that it has the credential.

    Refuses fewer iterations than Kafka's minimum, with which a false server could guess the
    password, and more than `iterations_max` (by default Kafka's own maximum), with which it could
    keep this process busy.
    """

    __slots__ = (
        "_final",
        "_first",
        "_is_started",
        "_iterations_max",
        "_mechanism",
        "_password",
        "_server_signature",
        "is_complete",
    )

    def __init__(
        self,
        mechanism: ScramMechanism,
        name: str,
        password: Password,
        *,
        nonce: str,
        is_token: bool = False,
        iterations_max: int = ITERATIONS_MAX,
    ) -> None:
        self._mechanism = mechanism
        self._password = password
        self._iterations_max = iterations_max
        self._server_signature: bytes | None = None
        self._is_started = False
        self.is_complete = False
        extensions: Mapping[str, str] = {TOKEN_AUTHENTICATION: "true"} if is_token else {}
        try:
            self._first = make_client_first(name, nonce, extensions)
        except ValueError as error:
            raise AuthenticationError(f"{mechanism.mechanism}: {error}") from None

    @property
    def name(self) -> Mechanism:
        return self._mechanism.mechanism

    def first_message(self) -> bytes:
        return f"{self._first.gs2_header}{self._first.bare}".encode()

    def evaluate(self, challenge: bytes) -> bytes | None:
        try:
            if self.is_complete:
                raise ValueError("a message after the last one")
            if not self._is_started:
                self._is_started = True
                return self._take_first(parse_server_first(challenge))
            expected, self._server_signature = self._server_signature, None
            signature = parse_server_final(challenge).signature
        except ValueError as error:
            raise self._refused(str(error)) from None
        if signature is None:
            raise self._refused("the server reports an error")
        if expected is None or not hmac.compare_digest(signature, expected):
            raise self._refused("the server does not know the password")
        self.is_complete = True
        return None

    def _take_first(self, first: ServerFirst) -> bytes:
        if not first.nonce.startswith(self._first.nonce) or first.nonce == self._first.nonce:
            raise ValueError("the nonce does not continue the client's")
        if not ITERATIONS_MIN <= first.iterations <= self._iterations_max:
            raise ValueError(
                f"the server demands {first.iterations} iterations; this client accepts "
                f"{ITERATIONS_MIN} to {self._iterations_max}"
            )
        hash_name = self._mechanism.hash_name
        salted = salt_password(
            hash_name, self._password, salt=first.salt, iterations=first.iterations
        )
        keys = keys_of(hash_name, salted)
        without_proof = make_client_final(self._first.gs2_header, first.nonce)
        message = _signed_message(self._first.bare, first.text, without_proof)
        proof = _xor(keys.client_key, hmac.digest(keys.stored_key, message, hash_name))
        self._server_signature = hmac.digest(keys.server_key, message, hash_name)
        return f"{without_proof},p={b64encode(proof).decode()}".encode()

    def _refused(self, reason: str) -> AuthenticationError:
        return AuthenticationError(f"{self.name}: the server's message was refused: {reason}")


def _signed_message(client_first_bare: str, server_first: str, without_proof: str) -> bytes:
    return f"{client_first_bare},{server_first},{without_proof}".encode()


def _xor(left: bytes, right: bytes) -> bytes:
    number = int.from_bytes(left) ^ int.from_bytes(right)
    return number.to_bytes(len(left))
