"""DescribeQuorum, versions 0 to 2: the metadata quorum's replicas and their offsets (KIP-595).

Forwarded to the quorum leader; its errors are in quorum_description.py.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.forwarding import forward
from ottla.broker.network.handling import RequestContext, handles
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse


@handles(ApiKey.DESCRIBE_QUORUM, rights=(Right(AclOperation.DESCRIBE, ResourceType.CLUSTER),))
def describe_quorum(
    context: RequestContext, request: DescribeQuorumRequest, *, controller: ActiveController
) -> Awaitable[DescribeQuorumResponse]:
    return forward(controller, request, context.api_version, context.rights)
