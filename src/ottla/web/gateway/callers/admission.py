"""Makes the clients of a caller: with its own credentials, or with a delegation token for it.

Connections to the cluster have the gateway's TLS settings and the caller's SASL credentials.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from ottla.channels import ChannelSecurity
from ottla.client.cluster import ClientSeams
from ottla.security.sasl.mechanism import ClientMechanism, Mechanism
from ottla.web.gateway.callers.caller_pool import Access
from ottla.web.gateway.callers.credentials import (
    CallerCredentials,
    CertificateIdentity,
    OwnIdentity,
)
from ottla.web.gateway.callers.delegation import TokenIssuer
from ottla.web.gateway.ottla_clients import OttlaClientFactory
from ottla.web.service.caller_logins import caller_security, scram
from ottla.web.service.identity import BearerCredentials

_MS: Final = 1_000
_JWT_PARTS: Final = 3


class CallerAdmission:
    """`own` is how the gateway itself connects. `mechanism` is that of passwords."""

    def __init__(
        self,
        properties: Mapping[str, Any],
        own: ChannelSecurity,
        seams: ClientSeams,
        mechanism: Mechanism,
        issuer: TokenIssuer,
    ) -> None:
        self._properties = properties
        self._own = own
        self._seams = seams
        self._mechanism = mechanism
        self._issuer = issuer

    async def __call__(self, credentials: CallerCredentials) -> Access:
        if isinstance(credentials, OwnIdentity):
            return Access(OttlaClientFactory(self._properties, self._own, self._seams))
        if isinstance(credentials, CertificateIdentity):
            # Fails here if the gateway may not act for this user.
            await self._issuer.token(credentials.username)
            security = ChannelSecurity(
                tls=self._own.tls, mechanism=lambda: self._with_token(credentials)
            )
            return Access(OttlaClientFactory(self._properties, security, self._seams))
        expires_at = None
        if isinstance(credentials, BearerCredentials):
            expires_at = self._expiry(credentials.token.value)
        security = caller_security(self._own, credentials, self._mechanism, self._seams.dice)
        return Access(OttlaClientFactory(self._properties, security, self._seams), expires_at)

    def _with_token(self, credentials: CertificateIdentity) -> ClientMechanism:
        token = self._issuer.ready_token(credentials.username)
        dice = self._seams.dice
        return scram(Mechanism.SCRAM_SHA_512, token.id, token.password, dice, is_token=True)

    def _expiry(self, token: str) -> float | None:
        """When a token says that it ends, in monotonic seconds. The cluster verifies the token."""
        parts = token.split(".")
        if len(parts) != _JWT_PARTS:
            return None
        try:
            claims = msgspec.json.decode(
                base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
            )
            expires_s = float(claims["exp"])
        except (binascii.Error, msgspec.MsgspecError, LookupError, TypeError, ValueError):
            return None
        clock = self._seams.clock
        return clock.monotonic() + expires_s - clock.now_ms() / _MS
