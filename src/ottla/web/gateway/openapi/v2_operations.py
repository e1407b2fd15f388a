"""The calls of REST v2."""

from __future__ import annotations

from typing import Any, Final

from ottla.web.gateway.openapi.operation import (
    GROUP,
    INSTANCE,
    PARTITION,
    TOPIC,
    HttpOperation,
    Parameter,
    integer,
)
from ottla.web.gateway.rest_v2.instance_access import INSTANCE_PATH
from ottla.web.gateway.rest_v2.v2_bodies import (
    V2ConsumerBody,
    V2Offsets,
    V2Partitions,
    V2Subscription,
)
from ottla.web.gateway.rest_v2.v2_produce import V2RecordsBody

_MEMBER: Final = (GROUP, INSTANCE)
_TOPIC_PARTITION: Final = (TOPIC, PARTITION)
_RECORDS: Final = {"records": [{"key": "dXNlcg==", "value": "aGVsbG8="}]}
_PARTITIONS: Final = {"partitions": [{"topic": "user-events", "partition": 0}]}
_OFFSETS: Final = {"offsets": [{"topic": "user-events", "partition": 0, "offset": 0}]}


def _v2(
    method: str,
    path: str,
    name: str,
    summary: str,
    parameters: tuple[Parameter, ...] = (),
    **more: Any,
) -> HttpOperation:
    return HttpOperation(
        method,
        path,
        name,
        summary,
        parameters=parameters,
        statuses=(403, 404, 406, 409, 415, 421, 422),
        is_v2=True,
        **{"media_type": "application/vnd.kafka.v2+json", **more},
    )


V2_OPERATIONS: Final = (
    _v2("get", "/topics", "list_topics", "List the topics."),
    _v2("get", "/topics/{topic}", "describe_topic", "Describe a topic.", (TOPIC,)),
    _v2(
        "post",
        "/topics/{topic}",
        "produce_v2",
        "Produce records; the content type names their format.",
        (TOPIC,),
        body=V2RecordsBody,
        example=_RECORDS,
        media_type="application/vnd.kafka.binary.v2+json",
    ),
    _v2("get", "/topics/{topic}/partitions", "list_partitions", "List the partitions.", (TOPIC,)),
    _v2(
        "get",
        "/topics/{topic}/partitions/{partition}",
        "describe_partition",
        "Describe a partition.",
        _TOPIC_PARTITION,
    ),
    _v2(
        "post",
        "/topics/{topic}/partitions/{partition}",
        "produce_v2_partition",
        "Produce records to one partition.",
        _TOPIC_PARTITION,
        body=V2RecordsBody,
        example=_RECORDS,
        media_type="application/vnd.kafka.binary.v2+json",
    ),
    _v2(
        "get",
        "/topics/{topic}/partitions/{partition}/offsets",
        "partition_offsets",
        "Get the first offset of a partition, and that of the next record.",
        _TOPIC_PARTITION,
    ),
    _v2("get", "/brokers", "list_brokers", "List the ids of the brokers."),
    _v2(
        "post",
        "/consumers/{group}",
        "create_instance",
        "Create a consumer.",
        (GROUP,),
        body=V2ConsumerBody,
        example={"name": "one", "format": "binary", "auto.offset.reset": "earliest"},
    ),
    _v2(
        "post",
        f"{INSTANCE_PATH}/subscription",
        "subscribe_instance",
        "Subscribe a consumer to topics or to a pattern.",
        _MEMBER,
        body=V2Subscription,
        example={"topics": ["user-events"]},
        success=204,
    ),
    _v2("get", f"{INSTANCE_PATH}/subscription", "get_subscription", "List its topics.", _MEMBER),
    _v2(
        "get",
        f"{INSTANCE_PATH}/records",
        "records",
        "Read records.",
        (
            *_MEMBER,
            Parameter("timeout", integer(0, 60_000), "Milliseconds to wait.", place="query"),
            Parameter("max_bytes", integer(1, 2**31 - 1), "Most bytes.", place="query"),
        ),
        media_type="application/vnd.kafka.binary.v2+json",
    ),
    _v2(
        "post",
        f"{INSTANCE_PATH}/offsets",
        "commit_v2",
        "Commit the offsets of the last records that were processed; without a body, those of all "
        "that were read.",
        _MEMBER,
        body=V2Offsets,
        example=_OFFSETS,
        body_is_required=False,
    ),
    _v2(
        "get",
        f"{INSTANCE_PATH}/assignments",
        "get_assignments",
        "List the partitions of a consumer.",
        _MEMBER,
    ),
    _v2(
        "delete",
        f"{INSTANCE_PATH}/subscription",
        "unsubscribe",
        "End the subscription.",
        _MEMBER,
        success=204,
    ),
    _v2(
        "post",
        f"{INSTANCE_PATH}/assignments",
        "assign",
        "Assign partitions by hand, without a group.",
        _MEMBER,
        body=V2Partitions,
        example=_PARTITIONS,
        success=204,
    ),
    _v2(
        "post",
        f"{INSTANCE_PATH}/positions",
        "seek_v2",
        "Continue at these offsets.",
        _MEMBER,
        body=V2Offsets,
        example=_OFFSETS,
        success=204,
    ),
    _v2(
        "post",
        f"{INSTANCE_PATH}/positions/beginning",
        "seek_first",
        "Continue at the first records.",
        _MEMBER,
        body=V2Partitions,
        example=_PARTITIONS,
        success=204,
    ),
    _v2(
        "post",
        f"{INSTANCE_PATH}/positions/end",
        "seek_end",
        "Continue behind the last records.",
        _MEMBER,
        body=V2Partitions,
        example=_PARTITIONS,
        success=204,
    ),
    _v2("delete", INSTANCE_PATH, "delete_instance", "Delete a consumer.", _MEMBER, success=204),
)
