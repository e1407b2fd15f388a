"""`POST /topics/{topic}` and `POST /topics/{topic}/partitions/{partition}`."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ottla.client.records import RecordMetadata
from ottla.web.gateway.answering import json_response
from ottla.web.gateway.gateway import Gateway
from ottla.web.gateway.messages.bodies import OutgoingMessage, PartitionNumber
from ottla.web.gateway.problems import GatewayProblem
from ottla.web.gateway.query import topic_name
from ottla.web.gateway.rest_v2.embedded_formats import (
    EmbeddedFormat,
    EmbeddedFormats,
    SchemaChoice,
)
from ottla.web.gateway.rest_v2.media_types import (
    FORMATS_WITH_SCHEMA,
    accepted_formats,
    answer_type,
    embedded_format,
)
from ottla.web.gateway.rest_v2.v2_errors import (
    KEY_SCHEMA_MISSING,
    PARTITION_NOT_FOUND,
    TOPIC_NOT_FOUND,
    VALUE_SCHEMA_MISSING,
    V2Error,
    answering_v2,
    unprocessable,
)
from ottla.web.service.bodies import read_body

# Of each record that failed: whether a repetition may help.
_NOT_RETRIABLE: Final = 1
_RETRIABLE: Final = 2
_PARTITION: Final = re.compile(r"[0-9]{1,9}")


class V2Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    key: Any = None
    value: Any = None
    partition: PartitionNumber | None = None


class V2RecordsBody(msgspec.Struct, frozen=True):
    records: list[V2Record]
    key_schema: str | None = None
    key_schema_id: int | str | None = None
    value_schema: str | None = None
    value_schema_id: int | str | None = None


class V2Offset(msgspec.Struct, frozen=True):
    partition: int | None = None
    offset: int | None = None
    error_code: int | None = None
    error: str | None = None

    @classmethod
    def of(cls, outcome: RecordMetadata | GatewayProblem) -> V2Offset:
        if isinstance(outcome, GatewayProblem):
            code = _RETRIABLE if outcome.retriable else _NOT_RETRIABLE
            return cls(error_code=code, error=outcome.message)
        return cls(outcome.partition, outcome.offset)


_decoder: Final = msgspec.json.Decoder(V2RecordsBody)


class V2ProduceCalls:
    def __init__(self, gateway: Gateway, formats: EmbeddedFormats) -> None:
        self._gateway = gateway
        self._formats = formats

    def routes(self) -> list[BaseRoute]:
        produce = answering_v2(self.produce_v2)
        return [
            Route("/topics/{topic}", produce, methods=["POST"]),
            Route("/topics/{topic}/partitions/{partition}", produce, methods=["POST"]),
        ]

    async def produce_v2(self, request: Request) -> Response:
        gateway = self._gateway
        caller = await gateway.caller(request.scope)
        format_name = embedded_format(request.headers.get("content-type"))
        accept = request.headers.get("accept")
        accepted_formats(accept)
        topic = _topic(request.path_params["topic"])
        producer = await caller.producer()
        count = await producer.partition_count(topic)
        partition = _partition(topic, request.path_params.get("partition"), count)
        body = _decoded(await read_body(request, bytes_max=gateway.limits.body_bytes_max))
        if len(body.records) > gateway.limits.batch_messages_max:
            raise V2Error(413, 413, "There are too many records in one request.")
        format_ = self._formats.require(format_name)
        _require_schemas(format_name, body)
        key_id = await _prepared(format_, topic, "key", body.key_schema, body.key_schema_id)
        value_id = await _prepared(format_, topic, "value", body.value_schema, body.value_schema_id)
        messages: list[OutgoingMessage | GatewayProblem] = []
        for record in body.records:
            message = OutgoingMessage(
                None if record.key is None else await format_.encode(key_id, record.key),
                None if record.value is None else await format_.encode(value_id, record.value),
                (),
                record.partition if partition is None else partition,
            )
            messages.append(message)
        with gateway.traces.sending(request.scope, topic, len(messages)) as trace:
            outcomes = await gateway.producing.send_all(caller, topic, trace.added_to_all(messages))
        return json_response(
            {
                "offsets": [V2Offset.of(each) for each in outcomes],
                "key_schema_id": key_id,
                "value_schema_id": value_id,
            },
            media_type=answer_type(accept),
        )


def _decoded(body: bytes) -> V2RecordsBody:
    """As Confluent's proxy: records of another JSON type are malformed, a body without records is
    unprocessable. Raises V2Error."""
    try:
        found = _decoder.decode(body)
    except msgspec.ValidationError as error:
        text = f"The body does not fit: {error}."
        if "`$.records" in text and "Expected `" in text:
            raise V2Error(400, 400, text) from None
        raise unprocessable(text) from None
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise V2Error(400, 400, f"The body is not valid JSON: {error}.") from None
    if not found.records:
        raise unprocessable("There are no records.")
    return found


def _topic(text: str) -> str:
    try:
        return topic_name(text)
    except GatewayProblem:
        raise V2Error(404, TOPIC_NOT_FOUND, "Topic not found.") from None


def _partition(topic: str, text: str | None, count: int) -> int | None:
    if text is None:
        return None
    if _PARTITION.fullmatch(text) is None or int(text) >= count:
        raise V2Error(404, PARTITION_NOT_FOUND, f"The topic {topic} has no partition {text}.")
    return int(text)


def _require_schemas(format_name: str, body: V2RecordsBody) -> None:
    if format_name not in FORMATS_WITH_SCHEMA:
        return
    has_keys = any(record.key is not None for record in body.records)
    has_values = any(record.value is not None for record in body.records)
    if has_keys and body.key_schema is None and body.key_schema_id is None:
        raise unprocessable(
            "There are keys, and neither key_schema nor key_schema_id.", KEY_SCHEMA_MISSING
        )
    if has_values and body.value_schema is None and body.value_schema_id is None:
        raise unprocessable(
            "There are values, and neither value_schema nor value_schema_id.",
            VALUE_SCHEMA_MISSING,
        )


async def _prepared(
    format_: EmbeddedFormat, topic: str, kind: str, text: str | None, id_: int | str | None
) -> int | None:
    if isinstance(id_, str):
        if not id_.isascii() or not id_.isdigit():
            raise unprocessable(f"{kind}_schema_id must be a number.")
        id_ = int(id_)
    return await format_.prepare(topic, kind, SchemaChoice(text, id_))
