"""Records of ACLs, SCRAM credentials and delegation tokens."""

from __future__ import annotations

from ottla.metadata.delta import MetadataDelta
from ottla.metadata.errors import MetadataError
from ottla.metadata.image import MetadataImage
from ottla.metadata.replay.registry import applies
from ottla.model import uuid_to_text
from ottla.wire.stored.cluster_metadata.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)


@applies(AccessControlEntryRecord)
def apply_access_control_entry(
    image: MetadataImage, record: AccessControlEntryRecord, delta: MetadataDelta
) -> None:
    image.access_control_entries[record.id] = record
    delta.access_control_changed = True


@applies(RemoveAccessControlEntryRecord)
def apply_access_control_entry_removal(
    image: MetadataImage, record: RemoveAccessControlEntryRecord, delta: MetadataDelta
) -> None:
    if image.access_control_entries.pop(record.id, None) is None:
        raise MetadataError(f"there is no access control entry {uuid_to_text(record.id)} to remove")
    delta.access_control_changed = True


@applies(UserScramCredentialRecord)
def apply_scram_credential(
    image: MetadataImage, record: UserScramCredentialRecord, delta: MetadataDelta
) -> None:
    image.scram_credentials[record.name, record.mechanism] = record
    delta.scram_credentials_changed = True


@applies(RemoveUserScramCredentialRecord)
def apply_scram_credential_removal(
    image: MetadataImage, record: RemoveUserScramCredentialRecord, delta: MetadataDelta
) -> None:
    if image.scram_credentials.pop((record.name, record.mechanism), None) is None:
        raise MetadataError(f"user {record.name} has no credential {record.mechanism} to remove")
    delta.scram_credentials_changed = True


@applies(DelegationTokenRecord)
def apply_delegation_token(
    image: MetadataImage, record: DelegationTokenRecord, delta: MetadataDelta
) -> None:
    image.delegation_tokens[record.token_id] = record
    delta.delegation_tokens_changed = True


@applies(RemoveDelegationTokenRecord)
def apply_delegation_token_removal(
    image: MetadataImage, record: RemoveDelegationTokenRecord, delta: MetadataDelta
) -> None:
    if image.delegation_tokens.pop(record.token_id, None) is None:
        raise MetadataError(f"there is no delegation token {record.token_id} to remove")
    delta.delegation_tokens_changed = True
