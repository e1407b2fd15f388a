"""Builds the OAUTHBEARER settings of a listener from its configs."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from ottla.configs.listener_security import TokenRetrieval, TokenValidation
from ottla.configs.listener_values import ListenerValues

_SCHEMES: Final = ("file", "https")


def token_validation(listener: ListenerValues) -> TokenValidation:
    """Raises InvalidConfigError without keys: tokens that are not verified are never accepted."""
    url = _url(
        listener,
        "sasl.oauthbearer.jwks.endpoint.url",
        listener.jwks_endpoint_url,
        missing="OAUTHBEARER needs the keys that verify tokens",
    )
    return TokenValidation(
        jwks_endpoint_url=url,
        expected_audience=listener.expected_audience,
        expected_issuer=listener.expected_issuer,
        clock_skew_seconds=listener.clock_skew_seconds,
        scope_claim_name=listener.scope_claim_name,
        sub_claim_name=listener.sub_claim_name,
        jwks_refresh_ms=listener.jwks_endpoint_refresh_ms,
        jwks_retry_backoff_ms=listener.jwks_endpoint_retry_backoff_ms,
        jwks_retry_backoff_max_ms=listener.jwks_endpoint_retry_backoff_max_ms,
    )


def token_retrieval(listener: ListenerValues) -> TokenRetrieval:
    """Raises InvalidConfigError if the node could not obtain tokens to connect to other nodes."""
    url = _url(
        listener,
        "sasl.oauthbearer.token.endpoint.url",
        listener.token_endpoint_url,
        missing="this node connects to others with OAUTHBEARER and needs a token",
    )
    return TokenRetrieval(
        token_endpoint_url=url,
        client_id=listener.client_id,
        client_secret=listener.client_secret,
        scope=listener.scope,
        connect_timeout_ms=listener.login_connect_timeout_ms,
        read_timeout_ms=listener.login_read_timeout_ms,
        retry_backoff_ms=listener.login_retry_backoff_ms,
        retry_backoff_max_ms=listener.login_retry_backoff_max_ms,
        refresh_window_factor=listener.login_refresh_window_factor,
        refresh_window_jitter=listener.login_refresh_window_jitter,
        refresh_min_period_seconds=listener.login_refresh_min_period_seconds,
        refresh_buffer_seconds=listener.login_refresh_buffer_seconds,
    )


def _url(listener: ListenerValues, config: str, url: str | None, *, missing: str) -> str:
    """The messages do not show the URL, which may contain a password."""
    if url is None:
        raise listener.error(f"{missing}; set {config} to a file: or https: URL")
    if _scheme(url) not in _SCHEMES:
        raise listener.error(f"{config} must be a file: or https: URL")
    return url


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""
