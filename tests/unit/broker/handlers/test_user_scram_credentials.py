"""SCRAM credentials, as administrators set and see them."""

from __future__ import annotations

from ottla.model import ErrorCode
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    UserName,
)
from tests.support.nodes.one_node import OneNode
from tests.support.security.acls import ALICE, acl, rights_of

ADMINISTRATOR = rights_of(ALICE, acl(AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME))
SECRET = b"a salted password, 32 bytes long"


def upsertion(user: str, *, iterations: int = 4096) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=user, mechanism=1, iterations=iterations, salt=b"the salt", salted_password=SECRET
    )


def upsert(node: OneNode, *users: str) -> None:
    request = AlterUserScramCredentialsRequest(upsertions=[upsertion(user) for user in users])
    response = node.send_request(request, 0, rights=ADMINISTRATOR)
    assert {each.user: each.error_code for each in response.results} == dict.fromkeys(users, 0)


def describe(node: OneNode, users: list[str] | None) -> DescribeUserScramCredentialsResponse:
    named = None if users is None else [UserName(name=user) for user in users]
    request = DescribeUserScramCredentialsRequest(users=named)
    response: DescribeUserScramCredentialsResponse = node.send_request(
        request, 0, rights=ADMINISTRATOR
    )
    assert response.error_code == ErrorCode.NONE
    return response


def credentials(
    node: OneNode, users: list[str] | None = None
) -> dict[str, list[tuple[int, int]] | int]:
    """By user: mechanisms with iterations, or the error."""
    return {
        each.user: each.error_code
        or [(info.mechanism, info.iterations) for info in each.credential_infos]
        for each in describe(node, users).results
    }


def test_credentials_are_described_without_secrets(node: OneNode) -> None:
    assert credentials(node) == {}
    upsert(node, "bob", "alice")
    every = {"alice": [(1, 4096)], "bob": [(1, 4096)]}
    assert credentials(node) == credentials(node, []) == every
    assert credentials(node, ["bob"]) == {"bob": [(1, 4096)]}
    (stored, _) = node.image.scram_credentials.values()
    answer = describe(node, None).encode(0)
    for secret in (SECRET, b"the salt", stored.stored_key, stored.server_key):
        assert secret not in answer


def test_unknown_and_repeated_users_are_errors_of_their_own(node: OneNode) -> None:
    upsert(node, "alice")
    assert credentials(node, ["alice", "nobody", "alice"]) == {
        "alice": ErrorCode.DUPLICATE_RESOURCE,
        "nobody": ErrorCode.RESOURCE_NOT_FOUND,
    }


def test_deleted_credentials_are_gone(node: OneNode) -> None:
    upsert(node, "alice")
    deletion = ScramCredentialDeletion(name="alice", mechanism=1)
    request = AlterUserScramCredentialsRequest(deletions=[deletion])
    refused = node.send_request(request, 0, rights=rights_of(ALICE))
    assert refused.results[0].error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert credentials(node)
    assert (
        node.send_request(request, 0, rights=ADMINISTRATOR).results[0].error_code == ErrorCode.NONE
    )
    assert credentials(node) == {}


def test_users_are_listed_only_to_those_that_may_see_the_cluster(node: OneNode) -> None:
    upsert(node, "alice")
    request = DescribeUserScramCredentialsRequest(users=None)
    response = node.send_request(request, 0, rights=rights_of(ALICE))
    assert response.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert response.results == []


def test_a_node_whose_metadata_has_failed_refuses_each_user_once(node: OneNode) -> None:
    async def fail() -> None:
        node.controller.quorum.fail(OSError("the disk is gone"))

    node.run(fail())
    deletion = ScramCredentialDeletion(name="alice", mechanism=1)
    request = AlterUserScramCredentialsRequest(
        deletions=[deletion], upsertions=[upsertion("alice"), upsertion("bob")]
    )
    results = node.send_request(request, 0, rights=ADMINISTRATOR).results
    code = ErrorCode.KAFKA_STORAGE_ERROR
    assert [(each.user, each.error_code) for each in results] == [("alice", code), ("bob", code)]
