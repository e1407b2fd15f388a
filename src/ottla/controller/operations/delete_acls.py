"""DeleteAcls, versions 1 to 3.

Per filter INVALID_REQUEST for an unknown type, operation or permission. A filter that matches
nothing is no error, and two filters can match the same entry. For all filters
CLUSTER_AUTHORIZATION_FAILED, SECURITY_DISABLED without an authorizer, and INVALID_REQUEST if they
match more entries than one request may change.
"""

from __future__ import annotations

from collections.abc import Mapping

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.acl_changes import (
    ACL_CHANGES_MAX,
    check_acl_changes,
    confirmed,
    invalid,
)
from ottla.metadata import MetadataImage
from ottla.model import KafkaError, Uuid
from ottla.security.acls.acl import AclBinding
from ottla.security.acls.acl_filter import AclFilter
from ottla.wire.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.security import RemoveAccessControlEntryRecord


def delete_acls(
    image: MetadataImage, request: DeleteAclsRequest, context: Context
) -> OperationOutcome[DeleteAclsResponse]:
    # A dictionary, for its order.
    removed: dict[Uuid, None] = {}
    results = []
    try:
        check_acl_changes(context)
        bindings = {
            acl_id: AclBinding.of_record(record)
            for acl_id, record in image.access_control_entries.items()
        }
        for requested in request.filters:
            try:
                matching = _matching(bindings, requested)
            except KafkaError as error:
                results.append(_refusal(error))
            else:
                removed |= dict.fromkeys(matching)
                found = [_described(binding) for binding in matching.values()]
                results.append(DeleteAclsFilterResult(error_message=None, matching_acls=found))
        if len(removed) > ACL_CHANGES_MAX:
            raise invalid(
                f"a request can delete at most {ACL_CHANGES_MAX} ACLs; narrow its filters"
            )
    except KafkaError as error:
        refused = [_refusal(error) for _ in request.filters]
        return OperationOutcome([], DeleteAclsResponse(filter_results=refused))
    records: list[Message] = [RemoveAccessControlEntryRecord(id=acl_id) for acl_id in removed]
    if not all(result.error_code for result in results):
        records = confirmed(records)
    return OperationOutcome(records, DeleteAclsResponse(filter_results=results))


def _matching(
    bindings: Mapping[Uuid, AclBinding], requested: DeleteAclsFilter
) -> dict[Uuid, AclBinding]:
    acl_filter = AclFilter.of_request(requested)
    return {acl_id: each for acl_id, each in bindings.items() if acl_filter.matches(each)}


def _described(binding: AclBinding) -> DeleteAclsMatchingAcl:
    pattern, entry = binding
    return DeleteAclsMatchingAcl(
        error_message=None,
        resource_type=pattern.resource_type,
        resource_name=pattern.name,
        pattern_type=pattern.pattern_type,
        principal=entry.principal,
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission,
    )


def _refusal(error: KafkaError) -> DeleteAclsFilterResult:
    return DeleteAclsFilterResult(error_code=error.code, error_message=error.message)
