"""The claims of a verified token: issuer, audience, times, subject and scope, as in Kafka's
BrokerJwtValidator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ottla.security.sasl.oauthbearer import VerifiedToken

_SECONDS_MAX: Final = 1 << 53


@dataclass(frozen=True, slots=True)
class ClaimSettings:
    """Kafka's `sasl.oauthbearer.*` settings, by their names there."""

    # Without one, a token of any issuer is accepted; without audiences, only a token without one.
    expected_issuer: str | None = None
    expected_audience: frozenset[str] = frozenset()
    clock_skew_seconds: int = 30
    scope_claim_name: str = "scope"
    sub_claim_name: str = "sub"


def verify_claims(
    claims: Mapping[str, object], settings: ClaimSettings, *, now_ms: int
) -> VerifiedToken:
    """Raises a ValueError that contains no claim's value."""
    _check_issuer(claims, settings)
    _check_audience(claims, settings)
    expires_at = _check_times(claims, now=now_ms / 1000, skew=settings.clock_skew_seconds)
    name = claims.get(settings.sub_claim_name)
    if not isinstance(name, str) or not name.strip():
        raise ValueError("the subject is missing or empty")
    scopes = _scopes(claims.get(settings.scope_claim_name))
    return VerifiedToken(name.strip(), int(expires_at * 1000), scopes)


def _check_issuer(claims: Mapping[str, object], settings: ClaimSettings) -> None:
    expected = settings.expected_issuer
    if expected is not None and claims.get("iss") != expected:
        raise ValueError("the issuer is not the expected one")


def _check_audience(claims: Mapping[str, object], settings: ClaimSettings) -> None:
    audience = claims.get("aud")
    if audience is None and not settings.expected_audience:
        return
    given = [audience] if isinstance(audience, str) else audience
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise ValueError("the audience is missing or not a string")
    if settings.expected_audience.isdisjoint(given):
        raise ValueError("the audience is not an expected one")


def _check_times(claims: Mapping[str, object], *, now: float, skew: int) -> float:
    """When the token expires, in seconds."""
    expires_at, issued_at = _seconds(claims, "exp"), _seconds(claims, "iat")
    not_before = _seconds(claims, "nbf") if claims.get("nbf") is not None else None
    if expires_at <= now - skew:
        raise ValueError("the token has expired")
    if issued_at > now + skew:
        raise ValueError("the token was issued in the future")
    if not_before is not None and not_before > now + skew:
        raise ValueError("the token is not valid yet")
    if expires_at < issued_at or (not_before is not None and expires_at < not_before):
        raise ValueError("the token expires before it is valid")
    return expires_at


def _seconds(claims: Mapping[str, object], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"the claim {name} is missing or not a number")
    if not 0 <= value < _SECONDS_MAX or not math.isfinite(value):
        raise ValueError(f"the claim {name} is out of range")
    return value


def _scopes(claim: object) -> frozenset[str]:
    if claim is None:
        return frozenset()
    given = [claim] if isinstance(claim, str) else claim
    if not isinstance(given, list):
        raise ValueError("the scope is neither a string nor a list")
    scopes = [each.strip() for each in given if isinstance(each, str)]
    if len(scopes) != len(given) or not all(scopes) or len(set(scopes)) != len(scopes):
        raise ValueError("the scope has empty or repeated entries")
    return frozenset(scopes)
