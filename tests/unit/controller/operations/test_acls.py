"""Access control entries are created and deleted by the controller."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from ottla.controller.operations import create_acls as creation
from ottla.controller.operations import delete_acls as deletion
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode
from ottla.security.acls.acl import (
    CLUSTER_NAME,
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourceType,
)
from ottla.security.acls.rights import UNRESTRICTED, Rights
from ottla.wire.messages.create_acls import AclCreation, CreateAclsRequest
from ottla.wire.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsRequest,
)
from ottla.wire.stored.cluster_metadata.transactions import NoOpRecord
from tests.support.controller.cluster_images import applied, context, features, image_of
from tests.support.security.acls import ALICE, acl, acl_records, rights_of, secured_config

READ, TOPIC = AclOperation.READ, ResourceType.TOPIC
ORDERS = acl(READ, TOPIC, "orders")
PAYMENTS = acl(READ, TOPIC, "pay", pattern=PatternType.PREFIXED, permission=Permission.DENY)
ADMINISTRATOR = rights_of(ALICE, acl(AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME))


def cluster(*bindings: AclBinding) -> MetadataImage:
    return image_of(features(), *acl_records(*bindings))


def creation_of(binding: AclBinding) -> AclCreation:
    record = acl_records(binding)[0]
    return AclCreation(
        resource_type=record.resource_type,
        resource_name=record.resource_name,
        resource_pattern_type=record.pattern_type,
        principal=record.principal,
        host=record.host,
        operation=record.operation,
        permission_type=record.permission_type,
    )


def create(
    image: MetadataImage,
    *creations: AclCreation,
    rights: Rights = ADMINISTRATOR,
    authorizer: str = "any",
) -> tuple[MetadataImage, list[ErrorCode]]:
    """The image afterwards, and the errors."""
    scope = context(secured_config(authorizer_class_name=authorizer), rights=rights)
    outcome = creation.create_acls(image, CreateAclsRequest(creations=list(creations)), scope)
    codes = [ErrorCode(each.error_code) for each in outcome.response.results]
    for each in outcome.response.results:
        assert (each.error_message is None) is (each.error_code == 0)
    return applied(image, outcome.records), codes


def delete(
    image: MetadataImage,
    *filters: DeleteAclsFilter,
    rights: Rights = ADMINISTRATOR,
    authorizer: str = "any",
) -> tuple[MetadataImage, list[DeleteAclsFilterResult]]:
    scope = context(secured_config(authorizer_class_name=authorizer), rights=rights)
    outcome = deletion.delete_acls(image, DeleteAclsRequest(filters=list(filters)), scope)
    return applied(image, outcome.records), outcome.response.filter_results


def stored(image: MetadataImage) -> list[AclBinding]:
    return [AclBinding.of_record(each) for each in image.access_control_entries.values()]


def everything() -> DeleteAclsFilter:
    return DeleteAclsFilter(
        resource_type_filter=ResourceType.ANY,
        resource_name_filter=None,
        pattern_type_filter=PatternType.ANY,
        principal_filter=None,
        host_filter=None,
        operation=AclOperation.ANY,
        permission_type=Permission.ANY,
    )


def named(name: str) -> DeleteAclsFilter:
    wanted = everything()
    wanted.resource_name_filter = name
    return wanted


def test_entries_are_created_with_ids_of_their_own() -> None:
    image, codes = create(cluster(), creation_of(ORDERS), creation_of(PAYMENTS))
    assert codes == [ErrorCode.NONE, ErrorCode.NONE]
    assert stored(image) == [ORDERS, PAYMENTS]
    assert all(acl_id == each.id for acl_id, each in image.access_control_entries.items())


def test_what_exists_is_created_once() -> None:
    image, codes = create(
        cluster(ORDERS), creation_of(ORDERS), creation_of(PAYMENTS), creation_of(PAYMENTS)
    )
    assert codes == [ErrorCode.NONE] * 3
    assert stored(image) == [ORDERS, PAYMENTS]


def test_an_answer_that_changes_nothing_waits_for_a_majority() -> None:
    scope = context(secured_config(), rights=ADMINISTRATOR)
    created = creation.create_acls(
        cluster(ORDERS), CreateAclsRequest(creations=[creation_of(ORDERS)]), scope
    )
    deleted = deletion.delete_acls(cluster(), DeleteAclsRequest(filters=[named("orders")]), scope)
    assert created.records == deleted.records == [NoOpRecord()]


def test_what_is_refused_writes_nothing() -> None:
    invalid = creation_of(ORDERS)
    invalid.resource_name = ""
    scope = context(secured_config(), rights=ADMINISTRATOR)
    outcome = creation.create_acls(cluster(), CreateAclsRequest(creations=[invalid]), scope)
    assert not outcome.records
    unauthorized = context(secured_config(), rights=rights_of(ALICE))
    request = DeleteAclsRequest(filters=[everything()])
    assert not deletion.delete_acls(cluster(ORDERS), request, unauthorized).records


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("resource_type", ResourceType.UNKNOWN),
        ("resource_type", ResourceType.ANY),
        ("resource_type", ResourceType.CLUSTER),
        ("resource_type", 99),
        ("resource_name", ""),
        ("resource_pattern_type", PatternType.UNKNOWN),
        ("resource_pattern_type", PatternType.ANY),
        ("resource_pattern_type", PatternType.MATCH),
        ("operation", AclOperation.UNKNOWN),
        ("operation", AclOperation.ANY),
        ("operation", 99),
        ("permission_type", Permission.UNKNOWN),
        ("permission_type", Permission.ANY),
        ("principal", "alice"),
        ("principal", ""),
    ],
)
def test_an_invalid_entry_is_refused_and_the_others_are_created(field: str, value: object) -> None:
    invalid = creation_of(ORDERS)
    setattr(invalid, field, value)
    image, codes = create(cluster(), invalid, creation_of(PAYMENTS))
    assert codes == [ErrorCode.INVALID_REQUEST, ErrorCode.NONE]
    assert stored(image) == [PAYMENTS]


@pytest.mark.parametrize(
    "binding",
    [
        acl(AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME),
        acl(READ, TOPIC, "*"),
        acl(READ, TOPIC, "*", pattern=PatternType.PREFIXED),
        acl(AclOperation.WRITE, ResourceType.GROUP, "odd", principal="User:*", host="no address"),
        acl(AclOperation.CREATE_TOKENS, ResourceType.USER, "User:bob", principal="Group:a:b"),
    ],
)
def test_whatever_kafka_stores_is_created(binding: AclBinding) -> None:
    image, codes = create(cluster(), creation_of(binding))
    assert codes == [ErrorCode.NONE]
    assert stored(image) == [binding]


def test_entries_are_deleted_by_filters_and_returned() -> None:
    image, results = delete(cluster(ORDERS, PAYMENTS), named("orders"), named("none"))
    assert [each.error_code for each in results] == [0, 0]
    (found,) = results[0].matching_acls
    assert (found.resource_name, found.principal, found.host) == ("orders", "User:alice", "*")
    assert (found.resource_type, found.operation, found.permission_type) == (2, 3, 3)
    assert (found.error_code, found.error_message, found.pattern_type) == (0, None, 3)
    assert results[1].matching_acls == []
    assert stored(image) == [PAYMENTS]


def test_an_entry_that_two_filters_match_is_in_both_results() -> None:
    image, results = delete(cluster(ORDERS), named("orders"), everything())
    assert [len(each.matching_acls) for each in results] == [1, 1]
    assert stored(image) == []


def test_an_unknown_filter_is_refused_and_the_others_delete() -> None:
    unknown = everything()
    unknown.operation = 99
    image, results = delete(cluster(ORDERS, PAYMENTS), unknown, named("orders"))
    assert [each.error_code for each in results] == [ErrorCode.INVALID_REQUEST, ErrorCode.NONE]
    assert stored(image) == [PAYMENTS]


@pytest.mark.parametrize(
    ("rights", "authorizer", "code"),
    [
        (rights_of(ALICE), "any", ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
        (UNRESTRICTED, "", ErrorCode.SECURITY_DISABLED),
    ],
)
def test_requests_without_rights_or_authorizer_change_nothing(
    rights: Rights, authorizer: str, code: ErrorCode
) -> None:
    before = cluster(ORDERS)
    image, codes = create(
        before, creation_of(PAYMENTS), creation_of(ORDERS), rights=rights, authorizer=authorizer
    )
    assert (image, codes) == (before, [code, code])
    image, results = delete(before, everything(), rights=rights, authorizer=authorizer)
    assert (image, [each.error_code for each in results]) == (before, [code])


def test_one_request_changes_a_limited_number_of_entries() -> None:
    before = cluster(ORDERS, PAYMENTS)
    more = [creation_of(acl(READ, TOPIC, name)) for name in ("a", "b")]
    with patch.object(creation, "ACL_CHANGES_MAX", 1):
        image, codes = create(before, *more)
    assert (image, codes) == (before, [ErrorCode.INVALID_REQUEST] * 2)
    with patch.object(deletion, "ACL_CHANGES_MAX", 1):
        image, results = delete(before, named("orders"), everything())
    assert image == before
    assert [each.error_code for each in results] == [ErrorCode.INVALID_REQUEST] * 2
