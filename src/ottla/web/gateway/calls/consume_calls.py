"""`/consumers/{group}/subscribe`, `…/poll`, `…/offsets` and `…/seek`.

A group's calls share the consumer `default`; `?instance=NAME`, or the header `Ottla-Instance`,
names others.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ottla.client.records import OffsetAndMetadata
from ottla.model import TopicPartition
from ottla.web.gateway.answering import JSON, answering, json_response
from ottla.web.gateway.callers.caller_clients import CallerClients
from ottla.web.gateway.gateway import Gateway
from ottla.web.gateway.messages.answers import (
    OffsetsAnswer,
    SeekAnswer,
    SubscribeAnswer,
    poll_answer,
)
from ottla.web.gateway.messages.bodies import (
    OffsetsBody,
    SeekBody,
    SubscribeBody,
    decode_body,
)
from ottla.web.gateway.problems import bad_request
from ottla.web.gateway.query import number, topic_name
from ottla.web.gateway.sessions.gateway_sessions import misdirected
from ottla.web.gateway.sessions.session_table import SessionName
from ottla.web.service.bodies import read_body

INSTANCE_HEADER: Final = "Ottla-Instance"
DEFAULT_INSTANCE: Final = "default"
_RECORDS: Final = 500
_WAIT_MS: Final = 1_000
_MS: Final = 1_000
_INSTANCE: Final = re.compile(r"[^\x00-\x1f\x7f/]{1,128}")
_GROUP: Final = re.compile(r"[^\x00-\x1f\x7f]{1,249}")

_subscribe: Final = msgspec.json.Decoder(SubscribeBody)
_offsets: Final = msgspec.json.Decoder(OffsetsBody)
_seek: Final = msgspec.json.Decoder(SeekBody)


class ConsumeCalls:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._sessions = gateway.sessions

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/consumers/{group}/subscribe", answering(self.subscribe), methods=["POST"]),
            Route("/consumers/{group}/poll", answering(self.poll), methods=["GET"]),
            Route("/consumers/{group}/offsets", answering(self.commit), methods=["POST"]),
            Route("/consumers/{group}/seek", answering(self.seek), methods=["POST"]),
        ]

    async def subscribe(self, request: Request) -> Response:
        caller, name = await self._session_name(request)
        body = decode_body(_subscribe, await self._body(request))
        topics = list(dict.fromkeys(map(topic_name, body.topics)))
        sessions = self._sessions
        session = sessions.table.get(name)
        if session is None:
            owner = await sessions.other_owner(caller, name)
            if owner is not None and request.query_params.get("takeover") != "true":
                raise misdirected(name, owner)
            options = sessions.options(name.group, name.instance)
            session = await sessions.open(caller, name, options)
        async with sessions.turn(session) as consumer:
            await consumer.client.subscribe(topics)
            consumer.mode = "topics"
        return json_response(SubscribeAnswer(name.group, name.instance, topics, sessions.owner))

    async def poll(self, request: Request) -> Response:
        caller, name = await self._session_name(request)
        limits = self._gateway.limits
        records_max = number(
            request.query_params, "max_records", _RECORDS, low=1, high=limits.poll_records_max
        )
        wait_ms = number(
            request.query_params, "timeout_ms", _WAIT_MS, low=0, high=limits.poll_wait_ms_max
        )
        session = await self._sessions.require(caller, name)
        async with self._sessions.turn(session) as consumer:
            records = await self._sessions.read(
                consumer,
                max_records=records_max,
                max_bytes=limits.poll_bytes_max,
                min_bytes=0,
                wait_s=wait_ms / _MS,
            )
            if records and await request.is_disconnected():
                await self._sessions.give_back(consumer, records)
                records = []
        self._gateway.traces.received(request.scope, name.group, records)
        return Response(poll_answer(records), media_type=JSON)

    async def commit(self, request: Request) -> Response:
        caller, name = await self._session_name(request)
        body = decode_body(_offsets, await self._body(request))
        offsets = {
            TopicPartition(topic_name(topic), partition): OffsetAndMetadata(offset)
            for topic, partitions in body.offsets.items()
            for partition, offset in partitions.items()
        }
        session = await self._sessions.require(caller, name)
        async with self._sessions.turn(session) as consumer:
            await self._sessions.commit(consumer, offsets)
        return json_response(OffsetsAnswer(body.offsets))

    async def seek(self, request: Request) -> Response:
        caller, name = await self._session_name(request)
        body = decode_body(_seek, await self._body(request))
        partition = TopicPartition(topic_name(body.topic), body.partition)
        session = await self._sessions.require(caller, name)
        async with self._sessions.turn(session) as consumer:
            await self._sessions.wait_assigned(consumer)
            self._sessions.require_assigned(consumer, [partition])
            await consumer.client.seek(partition, body.offset)
            consumer.delivered.pop(partition, None)
        return json_response(SeekAnswer(body.topic, body.partition, body.offset))

    # ----

    async def _session_name(self, request: Request) -> tuple[CallerClients, SessionName]:
        caller = await self._gateway.caller(request.scope)
        group = group_name(request.path_params["group"])
        given = request.query_params.get("instance") or request.headers.get(INSTANCE_HEADER)
        instance = DEFAULT_INSTANCE if given is None else instance_name(given)
        return caller, SessionName(caller.key, group, instance)

    async def _body(self, request: Request) -> bytes | bytearray:
        return await read_body(request, bytes_max=self._gateway.limits.body_bytes_max)


def group_name(text: str) -> str:
    """Raises GatewayProblem."""
    if _GROUP.fullmatch(text) is None:
        raise bad_request("A group's name has 1 to 249 printable characters.")
    return text


def instance_name(text: str) -> str:
    """Raises GatewayProblem."""
    if _INSTANCE.fullmatch(text) is None:
        raise bad_request("An instance's name has 1 to 128 printable characters and no '/'.")
    return text
