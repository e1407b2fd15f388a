"""DescribeAcls, versions 1 to 3: the access control entries that match a filter.

Answered from the node's own metadata. Errors: CLUSTER_AUTHORIZATION_FAILED, SECURITY_DISABLED
without an authorizer, INVALID_REQUEST for an unknown type, operation or permission.
"""

from __future__ import annotations

from collections import defaultdict

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.controller.operations.acl_changes import require_authorizer
from ottla.metadata import MetadataImage
from ottla.model import KafkaError
from ottla.security.acls.acl import (
    CLUSTER_NAME,
    AccessControlEntry,
    AclBinding,
    AclOperation,
    ResourcePattern,
    ResourceType,
)
from ottla.security.acls.acl_filter import AclFilter
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)


@handles(ApiKey.DESCRIBE_ACLS, rights=(Right(AclOperation.DESCRIBE, ResourceType.CLUSTER),))
def describe_acls(
    context: RequestContext, request: DescribeAclsRequest, *, cluster: ClusterView
) -> DescribeAclsResponse:
    try:
        context.rights.require(AclOperation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME)
        require_authorizer(cluster.config)
        acl_filter = AclFilter.of_request(request)
    except KafkaError as error:
        return DescribeAclsResponse(error_code=error.code, error_message=error.message)
    return DescribeAclsResponse(
        error_message=None,
        resources=[
            DescribeAclsResource(
                resource_type=pattern.resource_type,
                resource_name=pattern.name,
                pattern_type=pattern.pattern_type,
                acls=[
                    AclDescription(
                        principal=entry.principal,
                        host=entry.host,
                        operation=entry.operation,
                        permission_type=entry.permission,
                    )
                    for entry in entries
                ],
            )
            for pattern, entries in _matching(cluster.image, acl_filter).items()
        ],
    )


def _matching(
    image: MetadataImage, acl_filter: AclFilter
) -> dict[ResourcePattern, list[AccessControlEntry]]:
    found: defaultdict[ResourcePattern, list[AccessControlEntry]] = defaultdict(list)
    for record in image.access_control_entries.values():
        binding = AclBinding.of_record(record)
        if acl_filter.matches(binding):
            found[binding.pattern].append(binding.entry)
    return found
