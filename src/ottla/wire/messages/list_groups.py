"""Lists the groups that a broker coordinates.

Version 4 filters by state (KIP-518), 5 by type (KIP-848).
"""

from __future__ import annotations

from ottla.wire.schema import GroupId, Int16, Int32, Message, Struct, Text, field


class ListGroupsRequest(Message, api_key=16, versions="0-5", flexible="3+"):
    states_filter: list[Text] = field(factory=list, versions="4+")
    types_filter: list[Text] = field(factory=list, versions="5+")


class ListedGroup(Struct):
    group_id: GroupId = ""
    protocol_type: Text = ""
    group_state: Text = field(default="", versions="4+")
    group_type: Text = field(default="", versions="5+")


class ListGroupsResponse(Message, api_key=16, versions="0-5", flexible="3+"):
    throttle_time_ms: Int32 = field(default=0, versions="1+")
    error_code: Int16 = 0
    groups: list[ListedGroup] = field(factory=list)
