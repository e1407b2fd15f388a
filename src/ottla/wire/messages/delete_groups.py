"""Deletes groups without members, and their offsets."""

from __future__ import annotations

from ottla.wire.schema import GroupId, Int16, Int32, Message, Struct, field


class DeleteGroupsRequest(Message, api_key=42, versions="0-2", flexible="2+"):
    groups_names: list[GroupId] = field(factory=list)


class DeletableGroupResult(Struct):
    group_id: GroupId = ""
    error_code: Int16 = 0


class DeleteGroupsResponse(Message, api_key=42, versions="0-2", flexible="2+"):
    throttle_time_ms: Int32 = 0
    results: list[DeletableGroupResult] = field(factory=list)
