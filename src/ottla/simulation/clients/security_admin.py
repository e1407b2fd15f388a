"""A client for administrative requests about ACLs, credentials and delegation tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from ottla.channels.errors import ChannelError
from ottla.configs.value import Password
from ottla.model import ErrorCode
from ottla.runtime.network import Address
from ottla.security.acls.acl import AclBinding
from ottla.security.sasl.scram_credential import ITERATIONS_MIN, ScramMechanism, salt_password
from ottla.simulation.clients.cluster_client import ClusterClient
from ottla.simulation.clients.logins import GivenToken
from ottla.simulation.world.host import Host
from ottla.simulation.world.world import World
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.wire.messages.create_acls import AclCreation, CreateAclsRequest
from ottla.wire.messages.create_delegation_token import CreateDelegationTokenRequest
from ottla.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from ottla.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest
from ottla.wire.messages.renew_delegation_token import RenewDelegationTokenRequest
from ottla.wire.schema import Message

_TIMEOUT_MS: Final = 10_000
_ACLS_VERSION: Final = 3
_REMOVE_NOW: Final = -1
_DEFAULT_LIFETIME: Final = -1


class SimulatedSecurityAdmin:
    """Acts as the user of its host, for a story on another host. Methods return the error code of
    the response, or None if there was no response."""

    def __init__(
        self, world: World, host: Host, bootstrap: Sequence[Address], *, name: str
    ) -> None:
        self._world = world
        self._host = host
        self._client = ClusterClient(host, bootstrap, name=name)

    async def create_acls(self, acls: Iterable[AclBinding]) -> int | None:
        """The first error of all entries."""
        creations = [
            AclCreation(
                resource_type=pattern.resource_type,
                resource_name=pattern.name,
                resource_pattern_type=pattern.pattern_type,
                principal=entry.principal,
                host=entry.host,
                operation=entry.operation,
                permission_type=entry.permission,
            )
            for pattern, entry in acls
        ]
        response = await self._try(CreateAclsRequest(creations=creations), _ACLS_VERSION)
        return None if response is None else _first_error(response.results)

    async def delete_acls(self, acls: Iterable[AclBinding]) -> int | None:
        """Deletes exactly these entries. The first error of all of them."""
        filters = [
            DeleteAclsFilter(
                resource_type_filter=pattern.resource_type,
                resource_name_filter=pattern.name,
                pattern_type_filter=pattern.pattern_type,
                principal_filter=entry.principal,
                host_filter=entry.host,
                operation=entry.operation,
                permission_type=entry.permission,
            )
            for pattern, entry in acls
        ]
        response = await self._try(DeleteAclsRequest(filters=filters), _ACLS_VERSION)
        return None if response is None else _first_error(response.filter_results)

    async def set_credential(
        self, user: str, scram: ScramMechanism, password: str, *, salt: bytes
    ) -> int | None:
        upsertion = ScramCredentialUpsertion(
            name=user,
            mechanism=scram,
            iterations=ITERATIONS_MIN,
            salt=salt,
            salted_password=salt_password(
                scram.hash_name, Password(password), salt=salt, iterations=ITERATIONS_MIN
            ),
        )
        request = AlterUserScramCredentialsRequest(upsertions=[upsertion])
        response = await self._try(request, 0)
        return None if response is None else _first_error(response.results)

    async def delete_credential(self, user: str, scram: ScramMechanism) -> int | None:
        deletion = ScramCredentialDeletion(name=user, mechanism=scram)
        request = AlterUserScramCredentialsRequest(deletions=[deletion])
        response = await self._try(request, 0)
        return None if response is None else _first_error(response.results)

    async def create_token(self) -> GivenToken | None:
        """A token of the user itself; None if none was given."""
        request = CreateDelegationTokenRequest(max_lifetime_ms=_DEFAULT_LIFETIME)
        response = await self._try(request, 3)
        if response is None or response.error_code:
            return None
        return GivenToken(response.token_id, bytes(response.hmac))

    async def renew_token(self, token: GivenToken, *, period_ms: int) -> int | None:
        request = RenewDelegationTokenRequest(hmac=token.hmac, renew_period_ms=period_ms)
        response = await self._try(request, 2)
        return None if response is None else int(response.error_code)

    async def remove_token(self, token: GivenToken) -> int | None:
        request = ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period_ms=_REMOVE_NOW)
        response = await self._try(request, 2)
        return None if response is None else int(response.error_code)

    async def _try(self, request: Message, version: int) -> Any | None:
        return await self._world.run_on(self._host, self._send(request, version))

    async def _send(self, request: Message, version: int) -> Any | None:
        try:
            return await self._client.send_to_any(request, version, timeout_ms=_TIMEOUT_MS)
        except ChannelError:
            return None


def _first_error(results: Sequence[Any]) -> int:
    return next((each.error_code for each in results if each.error_code), int(ErrorCode.NONE))
