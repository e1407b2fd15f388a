"""CreateAcls, versions 1 to 3.

Per entry INVALID_REQUEST, for a type, name, operation, permission or principal that cannot be
stored. An entry that exists is not created again. For all entries
CLUSTER_AUTHORIZATION_FAILED, SECURITY_DISABLED without an authorizer, and INVALID_REQUEST for more
entries than one request may change.
"""

from __future__ import annotations

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.acl_changes import (
    ACL_CHANGES_MAX,
    check_acl_changes,
    confirmed,
    invalid,
)
from ottla.metadata import MetadataImage
from ottla.model import KafkaError
from ottla.security.acls.acl import (
    CLUSTER_NAME,
    AccessControlEntry,
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from ottla.wire.messages.create_acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from ottla.wire.schema import Message


def create_acls(
    image: MetadataImage, request: CreateAclsRequest, context: Context
) -> OperationOutcome[CreateAclsResponse]:
    records: list[Message] = []
    results = []
    existing = {AclBinding.of_record(each) for each in image.access_control_entries.values()}
    try:
        check_acl_changes(context)
        for creation in request.creations:
            result = AclCreationResult(error_message=None)
            try:
                binding = _valid_binding(creation)
            except KafkaError as error:
                result.error_code, result.error_message = error.code, error.message
            else:
                if binding not in existing:
                    existing.add(binding)
                    records.append(binding.to_record(context.dice.uuid()))
            results.append(result)
        if len(records) > ACL_CHANGES_MAX:
            raise invalid(f"a request can create at most {ACL_CHANGES_MAX} ACLs")
    except KafkaError as error:
        refused = AclCreationResult(error_code=error.code, error_message=error.message)
        return OperationOutcome([], CreateAclsResponse(results=[refused] * len(request.creations)))
    if not all(result.error_code for result in results):
        records = confirmed(records)
    return OperationOutcome(records, CreateAclsResponse(results=results))


def _valid_binding(creation: AclCreation) -> AclBinding:
    binding = AclBinding(
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
    pattern, entry = binding
    if pattern.resource_type in (ResourceType.UNKNOWN, ResourceType.ANY):
        raise invalid(f"an ACL cannot be for resource type {creation.resource_type}")
    if not pattern.name:
        raise invalid("the resource name of an ACL must not be empty")
    if pattern.resource_type is ResourceType.CLUSTER and pattern.name != CLUSTER_NAME:
        raise invalid(f"the cluster's resource name is {CLUSTER_NAME}")
    if pattern.pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED):
        raise invalid(f"an ACL cannot have pattern type {creation.resource_pattern_type}")
    if entry.operation in (AclOperation.UNKNOWN, AclOperation.ANY):
        raise invalid(f"an ACL cannot be for operation {creation.operation}")
    if entry.permission not in (Permission.ALLOW, Permission.DENY):
        raise invalid(f"an ACL cannot have permission {creation.permission_type}")
    if ":" not in entry.principal:
        raise invalid("a principal needs a type and a name, as in User:alice")
    return binding
