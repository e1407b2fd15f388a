"""Consumer instances of REST v2: records, offsets and positions.

As in Confluent's proxy, an offset to commit is that of the last record that was processed: the
group goes on behind it.
"""

from __future__ import annotations

import base64
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ottla.client.records import ConsumedRecord, OffsetAndMetadata
from ottla.model import TopicPartition
from ottla.web.gateway.answering import json_response
from ottla.web.gateway.gateway import Gateway
from ottla.web.gateway.query import number
from ottla.web.gateway.rest_v2.embedded_formats import EmbeddedFormat, EmbeddedFormats
from ottla.web.gateway.rest_v2.instance_access import INSTANCE_PATH, InstanceAccess
from ottla.web.gateway.rest_v2.media_types import (
    BINARY,
    accepted_formats,
    answer_type,
)
from ottla.web.gateway.rest_v2.v2_bodies import decode_v2, offsets_body, partitions_body
from ottla.web.gateway.rest_v2.v2_errors import (
    FORMAT_MISMATCH,
    V2Error,
    answering_v2,
    unprocessable,
)

_NO_CONTENT: Final = 204
_MS: Final = 1_000


class V2ReadingCalls:
    def __init__(self, gateway: Gateway, formats: EmbeddedFormats) -> None:
        self._gateway = gateway
        self._sessions = gateway.sessions
        self._formats = formats
        self._access = InstanceAccess(gateway)

    def routes(self) -> list[BaseRoute]:
        offsets, positions = f"{INSTANCE_PATH}/offsets", f"{INSTANCE_PATH}/positions"
        return [
            Route(f"{INSTANCE_PATH}/records", answering_v2(self.records), methods=["GET"]),
            Route(offsets, answering_v2(self.commit_v2), methods=["POST"]),
            Route(offsets, answering_v2(self.committed), methods=["GET"]),
            Route(positions, answering_v2(self.seek_v2), methods=["POST"]),
            Route(f"{positions}/beginning", answering_v2(self.seek_first), methods=["POST"]),
            Route(f"{positions}/end", answering_v2(self.seek_end), methods=["POST"]),
        ]

    async def records(self, request: Request) -> Response:
        session = await self._access.session(request)
        name = session.consumer.format or BINARY
        accept = request.headers.get("accept")
        _require_format(name, accept)
        limits = self._gateway.limits
        query = request.query_params
        wait_ms = number(
            query,
            "timeout",
            min(int(session.consumer.wait_s * _MS), limits.poll_wait_ms_max),
            low=0,
            high=limits.poll_wait_ms_max,
        )
        bytes_max = number(query, "max_bytes", limits.poll_bytes_max, low=1, high=2**31 - 1)
        format_ = self._formats.require(name)
        async with self._sessions.turn(session) as consumer:
            found = await self._sessions.read(
                consumer,
                max_records=limits.poll_records_max,
                max_bytes=min(bytes_max, limits.poll_bytes_max),
                min_bytes=consumer.min_bytes,
                wait_s=wait_ms / _MS,
            )
            if found and await request.is_disconnected():
                await self._sessions.give_back(consumer, found)
                found = []
            try:
                answer = [await _record_json(format_, name, record) for record in found]
            except V2Error:
                # None of them is lost: the caller moves behind the one that cannot be decoded.
                await self._sessions.give_back(consumer, found)
                raise
        self._gateway.traces.received(request.scope, session.name.group, found)
        return json_response(answer, media_type=answer_type(accept, name))

    async def commit_v2(self, request: Request) -> Response:
        session = await self._access.session(request)
        body = decode_v2(offsets_body, await self._access.body(request) or b"{}")
        async with self._sessions.turn(session) as consumer:
            if body.offsets is None:
                await self._sessions.commit_delivered(consumer)
            else:
                offsets = {
                    TopicPartition(each.topic, each.partition): OffsetAndMetadata(
                        each.offset + 1, metadata=each.metadata or ""
                    )
                    for each in body.offsets
                }
                await self._sessions.commit(consumer, offsets)
        return Response(media_type=answer_type(request.headers.get("accept")))

    async def committed(self, request: Request) -> Response:
        session = await self._access.session(request)
        body = decode_v2(partitions_body, await self._access.body(request))
        partitions = [TopicPartition(each.topic, each.partition) for each in body.partitions]
        async with self._sessions.turn(session) as consumer:
            found = await consumer.client.committed(partitions) if partitions else {}
        offsets = [
            {
                "topic": partition.topic,
                "partition": partition.partition,
                "offset": committed.offset,
                "metadata": committed.metadata,
            }
            for partition, committed in found.items()
            if committed is not None
        ]
        accept = request.headers.get("accept")
        return json_response({"offsets": offsets}, media_type=answer_type(accept))

    async def seek_v2(self, request: Request) -> Response:
        session = await self._access.session(request)
        body = decode_v2(offsets_body, await self._access.body(request))
        if body.offsets is None:
            raise unprocessable("There are no offsets.")
        positions = {
            TopicPartition(each.topic, each.partition): each.offset for each in body.offsets
        }
        async with self._sessions.turn(session) as consumer:
            self._sessions.require_assigned(consumer, list(positions))
            for partition, offset in positions.items():
                await consumer.client.seek(partition, offset)
                consumer.delivered.pop(partition, None)
        return Response(status_code=_NO_CONTENT)

    async def seek_first(self, request: Request) -> Response:
        return await self._seek_limit(request, is_end=False)

    async def seek_end(self, request: Request) -> Response:
        return await self._seek_limit(request, is_end=True)

    async def _seek_limit(self, request: Request, *, is_end: bool) -> Response:
        session = await self._access.session(request)
        body = decode_v2(partitions_body, await self._access.body(request))
        partitions = [TopicPartition(each.topic, each.partition) for each in body.partitions]
        async with self._sessions.turn(session) as consumer:
            self._sessions.require_assigned(consumer, partitions)
            client = consumer.client
            await (client.seek_to_end if is_end else client.seek_to_beginning)(partitions)
            for partition in partitions:
                consumer.delivered.pop(partition, None)
        return Response(status_code=_NO_CONTENT)


def _require_format(name: str, accept: str | None) -> None:
    accepted = accepted_formats(accept)
    if accepted is None or name in accepted or None in accepted:
        return
    raise V2Error(
        406, FORMAT_MISMATCH, f"The consumer's format is {name}, which Accept does not allow."
    )


async def _record_json(
    format_: EmbeddedFormat, name: str, record: ConsumedRecord
) -> dict[str, Any]:
    return {
        "topic": record.topic,
        "key": None if record.key is None else await _key_json(format_, record.key),
        "value": await _value_json(format_, name, record),
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
    }


async def _key_json(format_: EmbeddedFormat, key: bytes) -> Any:
    """Keys of another format than the values are common: they are given as Base64."""
    try:
        return await format_.decode(key)
    except ValueError:
        return base64.b64encode(key).decode()


async def _value_json(format_: EmbeddedFormat, name: str, record: ConsumedRecord) -> Any:
    if record.value is None:
        return None
    try:
        return await format_.decode(record.value)
    except ValueError as error:
        raise unprocessable(
            f"value deserialization error for format {name}: {record.topic} partition "
            f"{record.partition} offset {record.offset}: {error}"
        ) from None
