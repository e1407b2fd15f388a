"""What REST v2 lists: topics, their partitions, offsets, and brokers."""

from __future__ import annotations

import re
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ottla.model import TopicPartition
from ottla.web.gateway.answering import json_response
from ottla.web.gateway.clients import ClusterReader, PartitionInfo
from ottla.web.gateway.gateway import Gateway
from ottla.web.gateway.problems import GatewayProblem
from ottla.web.gateway.query import topic_name
from ottla.web.gateway.rest_v2.media_types import accepted_formats, answer_type
from ottla.web.gateway.rest_v2.v2_errors import (
    PARTITION_NOT_FOUND,
    TOPIC_NOT_FOUND,
    V2Error,
    answering_v2,
)

_NUMBER: Final = re.compile(r"[0-9]{1,9}")


class V2TopicCalls:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def routes(self) -> list[BaseRoute]:
        partition = "/topics/{topic}/partitions/{partition}"
        return [
            Route("/topics", answering_v2(self.list_topics), methods=["GET"]),
            Route("/topics/{topic}", answering_v2(self.describe_topic), methods=["GET"]),
            Route(
                "/topics/{topic}/partitions", answering_v2(self.list_partitions), methods=["GET"]
            ),
            Route(partition, answering_v2(self.describe_partition), methods=["GET"]),
            Route(f"{partition}/offsets", answering_v2(self.partition_offsets), methods=["GET"]),
            Route("/brokers", answering_v2(self.list_brokers), methods=["GET"]),
        ]

    async def list_topics(self, request: Request) -> Response:
        reader = await self._reader(request)
        return self._answer(request, sorted(await reader.topics()))

    async def describe_topic(self, request: Request) -> Response:
        reader = await self._reader(request)
        topic = _topic(request)
        partitions = await reader.partitions(topic)
        return self._answer(
            request,
            {
                "name": topic,
                "configs": await reader.configs(topic),
                "partitions": [_partition_json(each) for each in partitions],
            },
        )

    async def list_partitions(self, request: Request) -> Response:
        reader = await self._reader(request)
        partitions = await reader.partitions(_topic(request))
        return self._answer(request, [_partition_json(each) for each in partitions])

    async def describe_partition(self, request: Request) -> Response:
        reader = await self._reader(request)
        return self._answer(request, _partition_json(await self._partition(request, reader)))

    async def partition_offsets(self, request: Request) -> Response:
        reader = await self._reader(request)
        partition = await self._partition(request, reader)
        first, end = await reader.offsets(TopicPartition(_topic(request), partition.partition))
        return self._answer(request, {"beginning_offset": first, "end_offset": end})

    async def list_brokers(self, request: Request) -> Response:
        reader = await self._reader(request)
        return self._answer(request, {"brokers": await reader.brokers()})

    # ----

    async def _reader(self, request: Request) -> ClusterReader:
        accepted_formats(request.headers.get("accept"))
        caller = await self._gateway.caller(request.scope)
        return await caller.reader()

    async def _partition(self, request: Request, reader: ClusterReader) -> PartitionInfo:
        topic, text = _topic(request), request.path_params["partition"]
        if _NUMBER.fullmatch(text) is None:
            raise V2Error(404, 404, f"{text} is no partition.")
        for each in await reader.partitions(topic):
            if each.partition == int(text):
                return each
        raise V2Error(404, PARTITION_NOT_FOUND, f"The topic {topic} has no partition {text}.")

    def _answer(self, request: Request, found: Any) -> Response:
        return json_response(found, media_type=answer_type(request.headers.get("accept")))


def _topic(request: Request) -> str:
    try:
        return topic_name(request.path_params["topic"])
    except GatewayProblem:
        raise V2Error(404, TOPIC_NOT_FOUND, "Topic not found.") from None


def _partition_json(partition: PartitionInfo) -> dict[str, Any]:
    return {
        "partition": partition.partition,
        "leader": partition.leader,
        "replicas": [
            {"broker": each.broker, "leader": each.is_leader, "in_sync": each.is_in_sync}
            for each in partition.replicas
        ],
    }
