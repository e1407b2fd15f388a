"""Checks a caller's credentials by logging in to the cluster with them.

The cluster is the only one that knows users, so a program keeps no passwords: it logs in as the
caller, asks for the rights that matter, and remembers the outcome for a short time, under a keyed
hash of the credentials.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections import OrderedDict
from dataclasses import replace
from typing import Final, NamedTuple

from ottla.channels import ChannelError, ChannelSecurity
from ottla.client.cluster import ClientCluster, ClientSeams
from ottla.client.cluster.retries import is_refusal
from ottla.client.settings import ClusterSettings
from ottla.model import KafkaError
from ottla.security.sasl.mechanism import ClientMechanism, Mechanism
from ottla.security.sasl.oauthbearer import OAuthBearerClient
from ottla.security.sasl.plain import PlainClient
from ottla.security.sasl.scram import ScramClient
from ottla.security.sasl.scram_credential import SCRAM_BY_NAME, random_text
from ottla.web.service.identity import (
    BearerCredentials,
    Credentials,
    WebIdentity,
    parse_authorization,
)
from ottla.web.service.problems import HttpProblem, unauthorized
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

_SECONDS_KEPT: Final = 60.0
_SECONDS_KEPT_REFUSED: Final = 2.0
_KEPT_MAX: Final = 10_000
_LOGINS_MAX: Final = 8
_TIMEOUT_MS: Final = 10_000


class _Outcome(NamedTuple):
    identity: WebIdentity | None
    until: float


class ClusterLogin:
    """`mechanism` is that of passwords; tokens use OAUTHBEARER. With `topic`, an identity knows
    what it may do with that topic."""

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
        self._kept: OrderedDict[bytes, _Outcome] = OrderedDict()
        self._pending: dict[bytes, asyncio.Future[WebIdentity | None]] = {}
        self._slots = asyncio.Semaphore(_LOGINS_MAX)

    async def identify(self, authorization: str) -> WebIdentity:
        """Raises HttpProblem: 401 for a refusal, 503 if the cluster cannot be asked."""
        credentials = parse_authorization(authorization)
        key = hmac.digest(self._key, authorization.encode(), hashlib.sha256)
        kept = self._kept.get(key)
        if kept is not None and kept.until > self._seams.clock.monotonic():
            identity = kept.identity
        else:
            identity = await self._log_in_once(key, credentials)
        if identity is None:
            raise unauthorized("the cluster refuses these credentials")
        return identity

    async def _log_in_once(self, key: bytes, credentials: Credentials) -> WebIdentity | None:
        """Requests that arrive together share one login."""
        if key in self._pending:
            return await asyncio.shield(self._pending[key])
        pending = self._pending[key] = asyncio.get_running_loop().create_future()
        try:
            async with self._slots:
                identity = await self._log_in(credentials)
        except BaseException as error:
            pending.set_exception(error)
            # It may have been awaited by nobody.
            pending.exception()
            raise
        finally:
            del self._pending[key]
        pending.set_result(identity)
        kept = _SECONDS_KEPT if identity is not None else _SECONDS_KEPT_REFUSED
        self._kept[key] = _Outcome(identity, self._seams.clock.monotonic() + kept)
        self._kept.move_to_end(key)
        if len(self._kept) > _KEPT_MAX:
            self._kept.popitem(last=False)
        return identity

    async def _log_in(self, credentials: Credentials) -> WebIdentity | None:
        security = ChannelSecurity(
            tls=self._settings.security.tls, mechanism=lambda: self._client(credentials)
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
                return None
            raise HttpProblem(503, f"the cluster cannot be asked: {error}") from None
        except KafkaError as error:
            raise HttpProblem(503, f"the cluster cannot be asked: {error}") from None
        finally:
            await cluster.close()
        operations = response.topics[0].topic_authorized_operations if topics else 0
        return WebIdentity(_name_of(credentials), credentials, max(operations, 0))

    def _client(self, credentials: Credentials) -> ClientMechanism:
        if isinstance(credentials, BearerCredentials):
            return OAuthBearerClient(lambda: credentials.token)
        if self._mechanism is Mechanism.PLAIN:
            return PlainClient(credentials.username, credentials.password)
        return ScramClient(
            SCRAM_BY_NAME[self._mechanism],
            credentials.username,
            credentials.password,
            nonce=random_text(self._seams.dice.below),
            is_token=False,
        )


def _name_of(credentials: Credentials) -> str:
    return "bearer" if isinstance(credentials, BearerCredentials) else credentials.username
