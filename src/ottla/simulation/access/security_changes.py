"""The changes of ACLs, credentials and tokens that a request asks for, as keys with new values."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from typing import Final, TypeAlias

from ottla.security.acls.acl import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from ottla.security.sasl.scram_credential import ScramMechanism, keys_of
from ottla.simulation.history.security_events import (
    ABSENT,
    PRESENT,
    UNKNOWN,
    acl_key,
    credential_key,
    token_key,
)
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)
from ottla.wire.messages.create_acls import AclCreation, CreateAclsRequest, CreateAclsResponse
from ottla.wire.messages.create_delegation_token import CreateDelegationTokenResponse
from ottla.wire.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from ottla.wire.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from ottla.wire.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from ottla.wire.schema import Message

Changes: TypeAlias = tuple[tuple[str, str], ...]

_DIGEST_CHARACTERS: Final = 16


def requested_changes(request: Message) -> Changes:
    """Simulated administrators delete ACLs only by filters that name one entry exactly."""
    match request:
        case CreateAclsRequest():
            return tuple((acl_key(_created(each)), PRESENT) for each in request.creations)
        case DeleteAclsRequest():
            return tuple((acl_key(_deleted(each)), ABSENT) for each in request.filters)
        case AlterUserScramCredentialsRequest():
            return tuple(change for _, change in _credentials(request))
        case RenewDelegationTokenRequest() | ExpireDelegationTokenRequest():
            return ((token_key(hmac_digest(request.hmac)), UNKNOWN),)
    return ()


def acknowledged_changes(request: Message, response: Message) -> Changes:
    """The changes that the response confirms."""
    match request, response:
        case CreateAclsRequest(), CreateAclsResponse():
            errors = [each.error_code for each in response.results]
            return _without_error(requested_changes(request), errors)
        case DeleteAclsRequest(), DeleteAclsResponse():
            errors = [each.error_code for each in response.filter_results]
            return _without_error(requested_changes(request), errors)
        case AlterUserScramCredentialsRequest(), AlterUserScramCredentialsResponse():
            failed = {each.user for each in response.results if each.error_code}
            return tuple(change for user, change in _credentials(request) if user not in failed)
        case _, CreateDelegationTokenResponse() if not response.error_code:
            key = token_key(hmac_digest(response.hmac))
            return ((key, str(response.expiry_timestamp_ms)),)
        case RenewDelegationTokenRequest(), RenewDelegationTokenResponse():
            if not response.error_code:
                key = token_key(hmac_digest(request.hmac))
                return ((key, str(response.expiry_timestamp_ms)),)
        case ExpireDelegationTokenRequest(), ExpireDelegationTokenResponse():
            if not response.error_code:
                is_removed = request.expiry_time_period_ms < 0
                value = ABSENT if is_removed else str(response.expiry_timestamp_ms)
                return ((token_key(hmac_digest(request.hmac)), value),)
    return ()


def hmac_digest(token_hmac: bytes) -> str:
    return b64encode(token_hmac).decode()[:_DIGEST_CHARACTERS]


def _without_error(changes: Changes, errors: list[int]) -> Changes:
    return tuple(change for change, error in zip(changes, errors, strict=True) if not error)


def _credentials(
    request: AlterUserScramCredentialsRequest,
) -> Iterator[tuple[str, tuple[str, str]]]:
    for deletion in request.deletions:
        yield deletion.name, (credential_key(deletion.name, deletion.mechanism), ABSENT)
    for change in request.upsertions:
        hash_name = ScramMechanism(change.mechanism).hash_name
        stored_key = keys_of(hash_name, bytes(change.salted_password)).stored_key
        key = credential_key(change.name, change.mechanism)
        yield change.name, (key, stored_key.hex())


def _created(creation: AclCreation) -> AclBinding:
    return AclBinding(
        ResourcePattern(
            ResourceType(creation.resource_type),
            creation.resource_name,
            PatternType(creation.resource_pattern_type),
        ),
        AccessControlEntry(
            creation.principal,
            creation.host,
            AclOperation(creation.operation),
            Permission(creation.permission_type),
        ),
    )


def _deleted(wanted: DeleteAclsFilter) -> AclBinding:
    assert wanted.resource_name_filter is not None
    assert wanted.principal_filter is not None
    assert wanted.host_filter is not None
    return AclBinding(
        ResourcePattern(
            ResourceType(wanted.resource_type_filter),
            wanted.resource_name_filter,
            PatternType(wanted.pattern_type_filter),
        ),
        AccessControlEntry(
            wanted.principal_filter,
            wanted.host_filter,
            AclOperation(wanted.operation),
            Permission(wanted.permission_type),
        ),
    )
