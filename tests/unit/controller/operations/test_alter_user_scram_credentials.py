"""SCRAM credentials are set and deleted by the controller."""

from __future__ import annotations

import pytest

from ottla.configs.value import Password
from ottla.controller.operations.alter_user_scram_credentials import alter_user_scram_credentials
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Rights
from ottla.security.sasl.scram_credential import ScramMechanism, make_credential, salt_password
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord
from tests.support.controller.cluster_images import applied, context, features, image_of
from tests.support.security.acls import ALICE, acl, rights_of

ADMINISTRATOR = rights_of(ALICE, acl(AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME))
SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
PASSWORD, SALT, ITERATIONS = Password("pencil"), b"a random salt", 4096
SALTED = salt_password("sha256", PASSWORD, salt=SALT, iterations=ITERATIONS)


def cluster(*users: str, metadata_version: int = 30) -> MetadataImage:
    records = [UserScramCredentialRecord(name=user, mechanism=SHA_256) for user in users]
    return image_of(features(metadata_version=metadata_version), *records)


def upsertion(user: str, **fields: int | bytes) -> ScramCredentialUpsertion:
    wanted = ScramCredentialUpsertion(
        name=user, mechanism=SHA_256, iterations=ITERATIONS, salt=SALT, salted_password=SALTED
    )
    for name, value in fields.items():
        setattr(wanted, name, value)
    return wanted


def deletion(user: str, mechanism: int = SHA_256) -> ScramCredentialDeletion:
    return ScramCredentialDeletion(name=user, mechanism=mechanism)


def alter(
    image: MetadataImage,
    *changes: ScramCredentialUpsertion | ScramCredentialDeletion,
    rights: Rights = ADMINISTRATOR,
) -> tuple[MetadataImage, dict[str, str]]:
    """The image afterwards, and the results by user."""
    request = AlterUserScramCredentialsRequest(
        deletions=[each for each in changes if isinstance(each, ScramCredentialDeletion)],
        upsertions=[each for each in changes if isinstance(each, ScramCredentialUpsertion)],
    )
    outcome = alter_user_scram_credentials(image, request, context(rights=rights))
    results = outcome.response.results
    for each in results:
        assert (each.error_message is None) is (each.error_code == 0)
    codes = {each.user: ErrorCode(each.error_code).name for each in results}
    assert len(codes) == len(results)
    return applied(image, outcome.records), codes


def test_a_credential_is_stored_with_the_keys_of_the_password() -> None:
    image, codes = alter(cluster(), upsertion("alice"))
    assert codes == {"alice": "NONE"}
    stored = image.scram_credentials["alice", SHA_256]
    expected = make_credential(SHA_256, PASSWORD, salt=SALT, iterations=ITERATIONS)
    assert (stored.stored_key, stored.server_key) == (expected.stored_key, expected.server_key)
    assert (stored.salt, stored.iterations) == (SALT, ITERATIONS)
    assert SALTED not in (stored.stored_key, stored.server_key)


def test_a_credential_is_replaced_and_another_deleted() -> None:
    image, codes = alter(cluster("alice", "bob"), upsertion("alice"), deletion("bob"))
    assert codes == {"bob": "NONE", "alice": "NONE"}
    assert image.scram_credentials.keys() == {("alice", SHA_256)}
    assert image.scram_credentials["alice", SHA_256].salt == SALT


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (upsertion(""), "UNACCEPTABLE_CREDENTIAL"),
        (upsertion("alice", mechanism=0), "UNSUPPORTED_SASL_MECHANISM"),
        (upsertion("alice", mechanism=3), "UNSUPPORTED_SASL_MECHANISM"),
        (upsertion("alice", iterations=4095), "UNACCEPTABLE_CREDENTIAL"),
        (upsertion("alice", iterations=16385), "UNACCEPTABLE_CREDENTIAL"),
        (upsertion("alice", salted_password=b""), "UNACCEPTABLE_CREDENTIAL"),
        (upsertion("alice", mechanism=SHA_512), "UNACCEPTABLE_CREDENTIAL"),
        (upsertion("alice", salt=b""), "UNACCEPTABLE_CREDENTIAL"),
        (deletion(""), "UNACCEPTABLE_CREDENTIAL"),
        (deletion("alice", 0), "UNSUPPORTED_SASL_MECHANISM"),
        (deletion("alice", SHA_512), "RESOURCE_NOT_FOUND"),
        (deletion("nobody"), "RESOURCE_NOT_FOUND"),
    ],
)
def test_what_is_refused_changes_nothing_and_the_others_are_changed(
    change: ScramCredentialUpsertion | ScramCredentialDeletion, code: str
) -> None:
    image, codes = alter(cluster("alice"), change, upsertion("bob"))
    assert codes == {change.name: code, "bob": "NONE"}
    assert image.scram_credentials["alice", SHA_256].salt == b""
    assert image.scram_credentials.keys() == {("alice", SHA_256), ("bob", SHA_256)}


@pytest.mark.parametrize(
    "changes",
    [
        [upsertion("alice"), upsertion("alice")],
        [deletion("alice"), deletion("alice")],
        [deletion("alice"), upsertion("alice")],
        [deletion("alice"), upsertion("alice"), upsertion("alice")],
    ],
)
def test_a_user_cannot_be_changed_twice_in_a_request(
    changes: list[ScramCredentialUpsertion | ScramCredentialDeletion],
) -> None:
    before = cluster("alice")
    assert alter(before, *changes) == (before, {"alice": "DUPLICATE_RESOURCE"})


def test_without_the_right_nothing_changes() -> None:
    before = cluster("alice")
    expected = dict.fromkeys(("alice", "bob"), "CLUSTER_AUTHORIZATION_FAILED")
    found = alter(before, deletion("alice"), upsertion("bob"), rights=rights_of(ALICE))
    assert found == (before, expected)


def test_an_old_metadata_version_has_no_credentials() -> None:
    before = cluster(metadata_version=10)
    assert alter(before, upsertion("alice")) == (before, {"alice": "UNSUPPORTED_VERSION"})
