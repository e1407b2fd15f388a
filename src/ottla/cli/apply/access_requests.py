"""Requests that change users and ACLs."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.cli.apply.changes import AddAcl, DeleteCredential, RemoveAcl, SetCredential
from ottla.cli.apply.secrets_of_files import Secrets
from ottla.cli.apply.subjects import acl_text
from ottla.cli.connection.acl_requests import creation, exact_filter
from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.cli.exit_codes import CommandError
from ottla.cli.users.run import salted_upsertion
from ottla.model import ErrorCode
from ottla.runtime.dice import SystemDice
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
)
from ottla.wire.messages.create_acls import CreateAclsRequest
from ottla.wire.messages.delete_acls import DeleteAclsRequest


async def set_credential(
    admin: ClusterAdmin, change: SetCredential, secrets: Secrets
) -> CommandError | None:
    upsertion = salted_upsertion(
        change.user,
        change.mechanism,
        secrets[change.password],
        iterations=change.iterations,
        dice=SystemDice(),
    )
    request = AlterUserScramCredentialsRequest(upsertions=[upsertion])
    return await _alter(admin, request, f"set the password of {change.user}")


async def delete_credential(admin: ClusterAdmin, change: DeleteCredential) -> CommandError | None:
    deletion = ScramCredentialDeletion(name=change.user, mechanism=change.mechanism)
    request = AlterUserScramCredentialsRequest(deletions=[deletion])
    return await _alter(admin, request, f"delete the credential of {change.user}")


async def add_acls(admin: ClusterAdmin, changes: Sequence[AddAcl]) -> list[CommandError | None]:
    request = CreateAclsRequest(creations=[creation(change.binding) for change in changes])
    response = await admin.send_request(request)
    return [
        _refusal(f"add the ACL {acl_text(change.binding)}", result.error_code, result.error_message)
        for change, result in zip(changes, response.results, strict=True)
    ]


async def remove_acls(
    admin: ClusterAdmin, changes: Sequence[RemoveAcl]
) -> list[CommandError | None]:
    request = DeleteAclsRequest(filters=[exact_filter(change.binding) for change in changes])
    response = await admin.send_request(request)
    return [
        _refusal(
            f"remove the ACL {acl_text(change.binding)}", result.error_code, result.error_message
        )
        for change, result in zip(changes, response.filter_results, strict=True)
    ]


async def _alter(
    admin: ClusterAdmin, request: AlterUserScramCredentialsRequest, doing: str
) -> CommandError | None:
    response = await admin.send_request(request)
    (result,) = response.results
    if request.deletions and result.error_code == ErrorCode.RESOURCE_NOT_FOUND:
        # Another client has deleted it meanwhile.
        return None
    return _refusal(doing, result.error_code, result.error_message)


def _refusal(doing: str, error_code: int, message: str | None) -> CommandError | None:
    return refusal(doing, error_code, message) if error_code else None
