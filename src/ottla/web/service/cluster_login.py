"""Checks a caller's credentials by logging in to the cluster with them.

The cluster is the only one that knows users, so a program keeps no passwords: it logs in as the
caller, asks for the rights that matter, and remembers the outcome for a short time, under a keyed
hash of the credentials.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import OrderedDict
from dataclasses import replace
from typing import Final, NamedTuple

from ottla.channels import ChannelError
from ottla.client.cluster import ClientCluster, ClientSeams
from ottla.client.cluster.retries import is_refusal
from ottla.client.settings import ClusterSettings
from ottla.model import KafkaError
from ottla.security.sasl.mechanism import Mechanism
from ottla.web.service.caller_logins import CallerLogins, caller_security
from ottla.web.service.identity import (
    BearerCredentials,
    Credentials,
    WebIdentity,
    parse_authorization,
)
from ottla.web.service.problems import HttpProblem, unauthorized
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

_SECONDS_KEPT: Final = 60.0
_KEPT_MAX: Final = 10_000
_TIMEOUT_MS: Final = 10_000
_UNAUTHORIZED: Final = 401


class _Known(NamedTuple):
    identity: WebIdentity
    until: float


class ClusterLogin:
    """`mechanism` is that of passwords; tokens use OAUTHBEARER. With `topic`, an identity knows
    what it may do with that topic. Ended by `close`."""

    def __init__(
        self,
        settings: ClusterSettings,
        seams: ClientSeams,
        mechanism: Mechanism,
        *,
        topic: str | None = None,
    ) -> None:
        self._settings = settings
        self._seams = seams
        self._mechanism = mechanism
        self._topic = topic
        self._key = seams.dice.uuid() + seams.dice.uuid()
        # Refusals are kept elsewhere: they must not displace these.
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._logins: CallerLogins[WebIdentity] = CallerLogins(seams.clock, _is_refusal, _full)

    async def identify(self, authorization: str) -> WebIdentity:
        """Raises HttpProblem: 401 for a refusal, 503 if the cluster cannot be asked, 429 for too
        many logins."""
        credentials = parse_authorization(authorization)
        key = hmac.digest(self._key, authorization.encode(), hashlib.sha256)
        known = self._known.get(key)
        if known is not None and known.until > self._seams.clock.monotonic():
            return known.identity
        return await self._logins.run(key, lambda: self._log_in_as(key, credentials))

    async def close(self) -> None:
        await self._logins.close()

    async def _log_in_as(self, key: bytes, credentials: Credentials) -> WebIdentity:
        identity = await self._log_in(credentials)
        self._known[key] = _Known(identity, self._seams.clock.monotonic() + _SECONDS_KEPT)
        self._known.move_to_end(key)
        if len(self._known) > _KEPT_MAX:
            self._known.popitem(last=False)
        return identity

    async def _log_in(self, credentials: Credentials) -> WebIdentity:
        security = caller_security(
            self._settings.security, credentials, self._mechanism, self._seams.dice
        )
        cluster = ClientCluster(replace(self._settings, security=security), self._seams)
        topics = [] if self._topic is None else [MetadataRequestTopic(name=self._topic)]
        request = MetadataRequest(
            topics=topics,
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=True,
        )
        try:
            response = await cluster.send_to_any(request, timeout_ms=_TIMEOUT_MS)
        except ChannelError as error:
            if is_refusal(error):
                raise unauthorized("the cluster refuses these credentials") from None
            raise HttpProblem(503, f"the cluster cannot be asked: {error}") from None
        except KafkaError as error:
            raise HttpProblem(503, f"the cluster cannot be asked: {error}") from None
        finally:
            await cluster.close()
        operations = response.topics[0].topic_authorized_operations if topics else 0
        return WebIdentity(_name_of(credentials), credentials, max(operations, 0))


def _name_of(credentials: Credentials) -> str:
    return "bearer" if isinstance(credentials, BearerCredentials) else credentials.username


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, HttpProblem) and error.status == _UNAUTHORIZED


def _full() -> HttpProblem:
    return HttpProblem(429, "too many callers are logging in", headers={"Retry-After": "1"})
