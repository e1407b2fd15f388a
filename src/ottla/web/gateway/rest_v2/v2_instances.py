"""Consumer instances of REST v2: created, subscribed or assigned, and deleted."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ottla.model import TopicPartition
from ottla.web.gateway.answering import json_response
from ottla.web.gateway.calls.consume_calls import group_name, instance_name
from ottla.web.gateway.gateway import Gateway
from ottla.web.gateway.query import topic_name
from ottla.web.gateway.rest_v2.instance_access import INSTANCE_PATH, InstanceAccess
from ottla.web.gateway.rest_v2.media_types import FORMATS, accepted_formats, answer_type
from ottla.web.gateway.rest_v2.v2_bodies import (
    V2ConsumerBody,
    consumer_body,
    decode_v2,
    partitions_body,
    subscription_body,
)
from ottla.web.gateway.rest_v2.v2_errors import (
    ILLEGAL_STATE,
    INVALID_CONSUMER_CONFIG,
    V2Error,
    answering_v2,
    unprocessable,
)
from ottla.web.gateway.sessions.gateway_sessions import OpenConsumer
from ottla.web.gateway.sessions.session_table import SessionName

_RESETS: Final = ("earliest", "latest", "none")
_ISOLATION: Final = ("read_uncommitted", "read_committed")
_NO_CONTENT: Final = 204
_MS: Final = 1_000
_ONE_WAY: Final = (
    "IllegalStateError: You must choose only one way to configure your consumer: (1) subscribe to "
    "specific topics by name, (2) subscribe to topics matching a regex pattern, (3) assign itself "
    "specific topic-partitions."
)


class V2InstanceCalls:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._access = InstanceAccess(gateway)

    def routes(self) -> list[BaseRoute]:
        subscription, assignments = f"{INSTANCE_PATH}/subscription", f"{INSTANCE_PATH}/assignments"
        return [
            Route("/consumers/{group}", answering_v2(self.create_instance), methods=["POST"]),
            Route(INSTANCE_PATH, answering_v2(self.delete_instance), methods=["DELETE"]),
            Route(subscription, answering_v2(self.subscribe_instance), methods=["POST"]),
            Route(subscription, answering_v2(self.get_subscription), methods=["GET"]),
            Route(subscription, answering_v2(self.unsubscribe), methods=["DELETE"]),
            Route(assignments, answering_v2(self.assign), methods=["POST"]),
            Route(assignments, answering_v2(self.get_assignments), methods=["GET"]),
        ]

    async def create_instance(self, request: Request) -> Response:
        caller = await self._gateway.caller(request.scope)
        group = group_name(request.path_params["group"])
        accepted_formats(request.headers.get("accept"))
        body = decode_v2(consumer_body, await self._access.body(request) or b"{}")
        given = _checked(body)
        sessions = self._gateway.sessions
        instance = instance_name(body.name) if body.name else self._new_name()
        options = sessions.options(
            group, instance, reset=given["reset"], isolation=given["isolation"]
        )
        name = SessionName(caller.key, group, instance)
        session = await sessions.open(caller, name, options)
        consumer = session.consumer
        consumer.format = body.format
        consumer.min_bytes = given["min_bytes"]
        consumer.wait_s = given["wait_s"]
        consumer.auto_commits = given["auto_commits"]
        path = f"/consumers/{quote(group, safe='')}/instances/{quote(instance, safe='')}"
        return json_response(
            {"instance_id": instance, "base_uri": f"{sessions.owner}{path}"},
            media_type=answer_type(request.headers.get("accept")),
        )

    async def delete_instance(self, request: Request) -> Response:
        session = await self._access.session(request)
        await self._gateway.sessions.close_session(session.name)
        return Response(status_code=_NO_CONTENT)

    async def subscribe_instance(self, request: Request) -> Response:
        session = await self._access.session(request)
        body = decode_v2(subscription_body, await self._access.body(request))
        if body.topics is not None and body.topic_pattern is not None:
            raise V2Error(409, ILLEGAL_STATE, _ONE_WAY)
        async with self._gateway.sessions.turn(session) as consumer:
            if body.topics:
                _require_mode(consumer, "topics")
                await consumer.client.subscribe([topic_name(each) for each in body.topics])
            elif body.topic_pattern is not None:
                _require_mode(consumer, "pattern")
                await consumer.client.subscribe_pattern(body.topic_pattern)
            else:
                raise unprocessable("There are neither topics nor a topic_pattern.")
        return Response(status_code=_NO_CONTENT)

    async def get_subscription(self, request: Request) -> Response:
        session = await self._access.session(request)
        topics = session.consumer.client.subscription()
        return self._answer(request, {"topics": topics})

    async def unsubscribe(self, request: Request) -> Response:
        session = await self._access.session(request)
        async with self._gateway.sessions.turn(session) as consumer:
            await consumer.client.unsubscribe()
            consumer.mode = ""
            consumer.delivered.clear()
        return Response(status_code=_NO_CONTENT)

    async def assign(self, request: Request) -> Response:
        session = await self._access.session(request)
        body = decode_v2(partitions_body, await self._access.body(request))
        partitions = [
            TopicPartition(topic_name(each.topic), each.partition) for each in body.partitions
        ]
        async with self._gateway.sessions.turn(session) as consumer:
            _require_mode(consumer, "assigned")
            await consumer.client.assign(partitions)
        return Response(status_code=_NO_CONTENT)

    async def get_assignments(self, request: Request) -> Response:
        session = await self._access.session(request)
        partitions = [
            {"topic": each.topic, "partition": each.partition}
            for each in session.consumer.client.assignment()
        ]
        return self._answer(request, {"partitions": partitions})

    # ----

    def _answer(self, request: Request, found: Any) -> Response:
        return json_response(found, media_type=answer_type(request.headers.get("accept")))

    def _new_name(self) -> str:
        return f"rest-consumer-{self._gateway.dice.below(1 << 62):016x}"


def _checked(body: V2ConsumerBody) -> dict[str, Any]:
    """The consumer's settings. Raises V2Error."""
    reset = (body.auto_offset_reset or "latest").lower()
    min_bytes = _whole(body.fetch_min_bytes, "fetch.min.bytes", -1, low=-1)
    wait_ms = _whole(body.request_timeout_ms, "consumer.request.timeout.ms", _MS, low=1)
    auto_commit = str(body.auto_commit_enable if body.auto_commit_enable is not None else "true")
    if body.format not in FORMATS:
        raise _invalid(f"format must be one of {', '.join(FORMATS)}.")
    if reset not in _RESETS:
        raise _invalid(f"auto.offset.reset must be one of {', '.join(_RESETS)}.")
    if (body.isolation_level or _ISOLATION[0]) not in _ISOLATION:
        raise _invalid(f"isolation.level must be one of {', '.join(_ISOLATION)}.")
    if auto_commit.lower() not in ("true", "false"):
        raise _invalid("auto.commit.enable must be true or false.")
    return {
        "reset": reset,
        "min_bytes": max(min_bytes, 1),
        "wait_s": wait_ms / _MS,
        "auto_commits": auto_commit.lower() == "true",
        "isolation": body.isolation_level or _ISOLATION[0],
    }


def _whole(given: int | str | None, name: str, default: int, *, low: int) -> int:
    if given is None:
        return default
    text = str(given)
    is_number = text.removeprefix("-").isdecimal() and text.isascii() and len(text) <= 10
    if not is_number or int(text) < low:
        raise _invalid(f"{name} must be a whole number of at least {low}.")
    return int(text)


def _invalid(message: str) -> V2Error:
    return unprocessable(message, INVALID_CONSUMER_CONFIG)


def _require_mode(consumer: OpenConsumer, mode: str) -> None:
    """A consumer is given its partitions in one way only."""
    if consumer.mode not in ("", mode):
        raise V2Error(409, ILLEGAL_STATE, _ONE_WAY)
    consumer.mode = mode
