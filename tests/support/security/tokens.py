"""A provider of OAUTHBEARER tokens: keys, their JWKS, and tokens signed with them."""

from __future__ import annotations

import json
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

ISSUER: Final = "https://provider.example"
AUDIENCE: Final = "ottla"


class Provider:
    """Signs with ES256. `rotate` replaces its key."""

    def __init__(self) -> None:
        self._rotations = 0
        self.rotate()

    def rotate(self) -> None:
        self._rotations += 1
        self.key_id = f"key-{self._rotations}"
        self.key = ec.generate_private_key(ec.SECP256R1())

    @property
    def public_key(self) -> dict[str, Any]:
        key: dict[str, Any] = jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return key | {"kid": self.key_id, "use": "sig", "alg": "ES256"}

    @property
    def jwks(self) -> bytes:
        return json.dumps({"keys": [self.public_key]}).encode()

    def token(
        self,
        *,
        now_ms: int,
        seconds: int = 3_600,
        headers: dict[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        """A claim of None is left out."""
        now = now_ms // 1_000
        all_claims = {
            "sub": "alice",
            "iss": ISSUER,
            "aud": AUDIENCE,
            "iat": now,
            "exp": now + seconds,
            **claims,
        }
        return jwt.encode(
            {name: value for name, value in all_claims.items() if value is not None},
            self.key,
            algorithm="ES256",
            headers={"kid": self.key_id, **(headers or {})},
        )


def bearer(token: str, *, authorization_id: str = "") -> bytes:
    """The client's first message of OAUTHBEARER."""
    name = f"a={authorization_id}" if authorization_id else ""
    return f"n,{name},\x01auth=Bearer {token}\x01\x01".encode()
