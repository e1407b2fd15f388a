"""AlterUserScramCredentials, version 0: deletions first, then upsertions (KIP-554).

Per user: DUPLICATE_RESOURCE for more than one change of a user; UNACCEPTABLE_CREDENTIAL for an
empty name, too few or too many iterations, or a salted password of another length than the hash;
UNSUPPORTED_SASL_MECHANISM; RESOURCE_NOT_FOUND for a deletion; UNSUPPORTED_VERSION if
metadata.version is too old. For all users CLUSTER_AUTHORIZATION_FAILED.
"""

from __future__ import annotations

from typing import TypeAlias

from ottla.controller.operation import Context, OperationOutcome
from ottla.metadata import MetadataImage
from ottla.metadata.features import SCRAM_LEVEL
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.sasl.scram_credential import ScramMechanism, credential_of_salted_password
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.security import (
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)

Change: TypeAlias = ScramCredentialDeletion | ScramCredentialUpsertion


def alter_user_scram_credentials(
    image: MetadataImage, request: AlterUserScramCredentialsRequest, context: Context
) -> OperationOutcome[AlterUserScramCredentialsResponse]:
    records: dict[str, Message] = {}
    errors: dict[str, KafkaError] = {}
    changes: list[Change] = [*request.deletions, *request.upsertions]
    for change in changes:
        if change.name in errors:
            continue
        try:
            context.rights.require(AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME)
            _check_unchanged(records, change.name)
            records[change.name] = _record(image, change)
        except KafkaError as error:
            records.pop(change.name, None)
            errors[change.name] = error
    results = [AlterUserScramCredentialsResult(user=user, error_message=None) for user in records]
    results += [
        AlterUserScramCredentialsResult(
            user=user, error_code=error.code, error_message=error.message
        )
        for user, error in errors.items()
    ]
    return OperationOutcome(
        list(records.values()), AlterUserScramCredentialsResponse(results=results)
    )


def _check_unchanged(records: dict[str, Message], user: str) -> None:
    if user in records:
        raise KafkaError(
            ErrorCode.DUPLICATE_RESOURCE,
            "a request can change only one credential of a user; send the others separately",
        )


def _record(image: MetadataImage, change: Change) -> Message:
    if image.metadata_version < SCRAM_LEVEL:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION,
            f"SCRAM credentials need metadata.version {SCRAM_LEVEL}; upgrade it",
        )
    if not change.name:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "the user's name must not be empty")
    try:
        mechanism = ScramMechanism(change.mechanism)
    except ValueError:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_SASL_MECHANISM,
            "the mechanism must be 1 (SCRAM-SHA-256) or 2 (SCRAM-SHA-512)",
        ) from None
    if isinstance(change, ScramCredentialUpsertion):
        return _upserted(change, mechanism)
    if (change.name, change.mechanism) not in image.scram_credentials:
        raise KafkaError(
            ErrorCode.RESOURCE_NOT_FOUND,
            f"the user has no credential for {mechanism.mechanism} to delete",
        )
    return RemoveUserScramCredentialRecord(name=change.name, mechanism=mechanism)


def _upserted(
    change: ScramCredentialUpsertion, mechanism: ScramMechanism
) -> UserScramCredentialRecord:
    try:
        credential = credential_of_salted_password(
            mechanism, change.salted_password, salt=change.salt, iterations=change.iterations
        )
    except ValueError as error:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, str(error)) from None
    return UserScramCredentialRecord(
        name=change.name,
        mechanism=mechanism,
        salt=credential.salt,
        stored_key=credential.stored_key,
        server_key=credential.server_key,
        iterations=credential.iterations,
    )
