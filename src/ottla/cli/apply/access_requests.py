"""Changes of users and ACLs."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.cli.apply.changes import AddAcl, DeleteCredential, RemoveAcl, SetCredential
from ottla.cli.apply.secrets_of_files import Secrets
from ottla.cli.apply.subjects import acl_text
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.exit_codes import CommandError
from ottla.client.administration.acls import exact_filter
from ottla.client.administration.admin import Admin
from ottla.client.administration.users import ScramDeletion, ScramPassword
from ottla.client.errors import ApiError, ClientError
from ottla.model import ErrorCode


async def set_credential(
    admin: Admin, change: SetCredential, secrets: Secrets
) -> CommandError | None:
    password = ScramPassword(
        change.user, secrets[change.password], change.mechanism, change.iterations
    )
    what = f"set the password of {change.user}"
    with doing(what):
        results = await admin.alter_user_scram_credentials([password])
    return _refusal(what, results.error(change.user))


async def delete_credential(admin: Admin, change: DeleteCredential) -> CommandError | None:
    what = f"delete the credential of {change.user}"
    with doing(what):
        results = await admin.alter_user_scram_credentials(
            [ScramDeletion(change.user, change.mechanism)]
        )
    error = results.error(change.user)
    if isinstance(error, ApiError) and error.code is ErrorCode.RESOURCE_NOT_FOUND:
        # Another client has deleted it meanwhile.
        return None
    return _refusal(what, error)


async def add_acls(admin: Admin, changes: Sequence[AddAcl]) -> list[CommandError | None]:
    with doing("add ACLs"):
        results = await admin.create_acls(change.binding for change in changes)
    return [
        _refusal(f"add the ACL {acl_text(change.binding)}", results.error(change.binding))
        for change in changes
    ]


async def remove_acls(admin: Admin, changes: Sequence[RemoveAcl]) -> list[CommandError | None]:
    filters = [exact_filter(change.binding) for change in changes]
    with doing("remove ACLs"):
        results = await admin.delete_acls(filters)
    return [
        _refusal(f"remove the ACL {acl_text(change.binding)}", results.error(each))
        for change, each in zip(changes, filters, strict=True)
    ]


def _refusal(what: str, error: ClientError | None) -> CommandError | None:
    return None if error is None else refused(what, error)
