"""Validates ConsumerGroupHeartbeat requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ottla.coordinator.groups.consumer.member import LEAVE_EPOCH, STATIC_LEAVE_EPOCH
from ottla.coordinator.groups.consumer.regular_expression import check_regex
from ottla.coordinator.groups.consumer.target_assignment import is_available
from ottla.model import ErrorCode, KafkaError
from ottla.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

# From this version on members generate their own ids (KIP-1082).
_OWN_ID_VERSION: Final = 1


def check_heartbeat(
    request: ConsumerGroupHeartbeatRequest, *, version: int, assignors: Sequence[str]
) -> None:
    """Raises for the first invalid field."""
    epoch = request.member_epoch
    for name, text in (
        ("GroupId", request.group_id),
        ("InstanceId", request.instance_id),
        ("RackId", request.rack_id),
    ):
        _require(text != "", f"{name} can't be empty.")
    if epoch != 0 or version >= _OWN_ID_VERSION:
        _require(request.member_id != "", "MemberId can't be empty.")
    _require(epoch >= STATIC_LEAVE_EPOCH, f"MemberEpoch is {epoch}, which is invalid.")
    if epoch == 0:
        _check_first(request)
    elif epoch == STATIC_LEAVE_EPOCH:
        _require(request.instance_id is not None, "InstanceId can't be null.")
    assignor = request.server_assignor
    if assignor is not None and not is_available(assignor, assignors):
        raise KafkaError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {assignor} is not supported. Supported assignors: "
            f"{', '.join(assignors)}.",
        )
    if request.subscribed_topic_regex and epoch not in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH):
        check_regex(request.subscribed_topic_regex)


def _check_first(request: ConsumerGroupHeartbeatRequest) -> None:
    _require(
        request.rebalance_timeout_ms != -1, "RebalanceTimeoutMs must be provided in first request."
    )
    _require(request.topic_partitions == [], "TopicPartitions must be empty when (re-)joining.")
    _require(
        bool(request.subscribed_topic_names or request.subscribed_topic_regex),
        "Either SubscribedTopicNames or SubscribedTopicRegex must be set in first request.",
    )


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise KafkaError(ErrorCode.INVALID_REQUEST, otherwise)
