"""Verifies signed JSON Web Tokens (RFC 7519) against a set of public keys (JWKS, RFC 7517).

The keys are data: the owner of the verifier reads them from a file or a URL and replaces them. A
token chooses among these keys by its `kid`; keys and addresses inside the token are ignored.

Only signatures with public keys are accepted. Unsecured tokens (`none`) are always refused, and so
are the HMAC algorithms, because the key that verifies them could also sign.

Needs the extra `ottla[security]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from ottla.security.sasl.json_values import parse_object
from ottla.security.sasl.jwt_claims import ClaimSettings, verify_claims
from ottla.security.sasl.mechanism import InvalidCredentialsError
from ottla.security.sasl.oauthbearer import VerifiedToken

TOKEN_CHARACTERS_MAX: Final = 65_536
# More keys than a provider has; bounds the work for a token without `kid`.
_KEYS_MAX: Final = 100
_RSA_BITS_MIN: Final = 2048
_CURVES: Final = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
_KEY_TYPES: Final = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    **dict.fromkeys(_CURVES, "EC"),
    "EdDSA": "OKP",
}
ALGORITHMS: Final = frozenset(_KEY_TYPES)
_PRIVATE_PARTS: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})


class InvalidKeysError(ValueError):
    """A JWKS from which no key can be used."""


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """One public key of the set."""

    id: str | None
    # None if the key does not say with which algorithm it signs.
    algorithm: str | None
    type: str
    curve: str | None
    key: Any

    def fits(self, algorithm: str) -> bool:
        if self.algorithm is not None and self.algorithm != algorithm:
            return False
        if self.type != _KEY_TYPES[algorithm]:
            return False
        return algorithm not in _CURVES or self.curve == _CURVES[algorithm]


class JwtVerifier:
    """Verifies tokens with the current keys. `on_unknown_key` is called when a token names a key
    that is not in the set, so that its owner can read the set again, at most every so often."""

    def __init__(
        self,
        settings: ClaimSettings,
        *,
        algorithms: Iterable[str] = ALGORITHMS,
        on_unknown_key: Callable[[], object] | None = None,
    ) -> None:
        self._settings = settings
        self._algorithms = frozenset(algorithms)
        if not self._algorithms <= ALGORITHMS:
            unknown = ", ".join(sorted(self._algorithms - ALGORITHMS))
            raise ValueError(f"these algorithms are not accepted: {unknown}")
        self._on_unknown_key = on_unknown_key
        self._keys: tuple[VerificationKey, ...] = ()
        # The import takes its time, and fails without the extra: at start-up, not at the first use.
        self._library = _library()

    def replace_keys(self, keys: str | bytes) -> None:
        """Takes a JWKS document. Raises an InvalidKeysError and keeps the old keys if it has no
        usable key."""
        self._keys = tuple(_usable_keys(keys, self._library))

    def verify(self, token: str, *, now_ms: int) -> VerifiedToken:
        if not self._keys:
            raise _refused("there are no keys to verify tokens with yet")
        algorithm, key_id = self._header_of(token)
        tries = (
            self._signed_payload(token, key, algorithm)
            for key in self._candidates(algorithm, key_id)
        )
        payload = next((each for each in tries if each is not None), None)
        if payload is None:
            raise _refused("the signature is wrong")
        try:
            return verify_claims(parse_object(payload), self._settings, now_ms=now_ms)
        except ValueError as error:
            raise _refused(str(error)) from None

    def _header_of(self, token: str) -> tuple[str, str | None]:
        """The algorithm, which is an accepted one, and the key's id."""
        if len(token) > TOKEN_CHARACTERS_MAX:
            raise _refused("the token is too long")
        if token.count(".") != 2 or not all(token.split(".")):
            raise _refused("the token does not have three parts")
        try:
            header = self._library.get_unverified_header(token)
        except Exception:  # The library has many kinds.
            raise _refused("the header cannot be read") from None
        algorithm, key_id = header.get("alg"), header.get("kid")
        if not isinstance(algorithm, str) or algorithm not in self._algorithms:
            raise _refused("the algorithm is not accepted")
        if "crit" in header or "b64" in header:
            raise _refused("the header demands an extension")
        if key_id is not None and not isinstance(key_id, str):
            raise _refused("the key's id is not a string")
        return algorithm, key_id

    def _candidates(self, algorithm: str, key_id: str | None) -> list[VerificationKey]:
        named = [key for key in self._keys if key_id is None or key.id == key_id]
        if not named and self._on_unknown_key is not None:
            self._on_unknown_key()
        fitting = [key for key in named if key.fits(algorithm)]
        if not fitting:
            raise _refused("there is no key of that id and algorithm")
        return fitting

    def _signed_payload(self, token: str, key: VerificationKey, algorithm: str) -> bytes | None:
        """None if the signature is not this key's."""
        try:
            decoded = self._library.PyJWS().decode_complete(
                token, key=key.key, algorithms=[algorithm]
            )
        except Exception:
            return None
        payload: bytes = decoded["payload"]
        return payload


def _usable_keys(text: str | bytes, library: Any) -> list[VerificationKey]:
    try:
        entries = parse_object(text).get("keys")
    except ValueError as error:
        raise InvalidKeysError(f"the JWKS cannot be read: {error}") from None
    if not isinstance(entries, list) or len(entries) > _KEYS_MAX:
        raise InvalidKeysError(f"the JWKS must have a list of at most {_KEYS_MAX} keys")
    keys = [_usable_key(entry, library) for entry in entries if isinstance(entry, dict)]
    usable = [key for key in keys if key is not None]
    if not usable:
        raise InvalidKeysError("the JWKS has no public key that verifies signatures")
    return usable


def _usable_key(entry: Mapping[str, object], library: Any) -> VerificationKey | None:
    """None for a key of another use or kind, which a set may contain."""
    algorithm, key_id, curve = entry.get("alg"), entry.get("kid"), entry.get("crv")
    kind = entry.get("kty")
    if kind not in _KEY_TYPES.values() or entry.get("use", "sig") != "sig":
        return None
    if algorithm is not None and (not isinstance(algorithm, str) or algorithm not in ALGORITHMS):
        return None
    operations = entry.get("key_ops", ["verify"])
    if not isinstance(operations, list) or "verify" not in operations:
        return None
    # A set has public keys only: a private part is a mistake of the provider, and not needed.
    public = {name: value for name, value in entry.items() if name not in _PRIVATE_PARTS}
    try:
        key = library.PyJWK(public, algorithm=algorithm or _any_algorithm(str(kind), curve)).key
    except Exception:
        return None
    if kind == "RSA" and key.key_size < _RSA_BITS_MIN:
        return None
    return VerificationKey(
        id=key_id if isinstance(key_id, str) else None,
        algorithm=algorithm,
        type=str(kind),
        curve=curve if isinstance(curve, str) else None,
        key=key,
    )


def _any_algorithm(kind: str, curve: object) -> str:
    """One with which the library can read a key that names none."""
    if kind == "EC":
        return next((name for name, known in _CURVES.items() if known == curve), "ES256")
    return "RS256" if kind == "RSA" else "EdDSA"


def _library() -> Any:
    try:
        import_module("cryptography")
        return import_module("jwt")
    except ImportError as error:
        raise ImportError(
            "OAUTHBEARER needs the packages pyjwt and cryptography: pip install 'ottla[security]'"
        ) from error


def _refused(reason: str) -> InvalidCredentialsError:
    return InvalidCredentialsError(f"OAUTHBEARER: {reason}")
