"""AddRaftVoter, versions 0 to 1: adds a voter to the metadata quorum (KIP-853).

Forwarded to the quorum leader; the errors are those of raft/voter_changes.py, and
REQUEST_TIMED_OUT if no controller responds or the outcome is unknown.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.forwarding import forward
from ottla.broker.network.handling import RequestContext, handles
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse


@handles(ApiKey.ADD_RAFT_VOTER, rights=(Right(AclOperation.ALTER, ResourceType.CLUSTER),))
def add_raft_voter(
    context: RequestContext, request: AddRaftVoterRequest, *, controller: ActiveController
) -> Awaitable[AddRaftVoterResponse]:
    return forward(controller, request, context.api_version, context.rights)
