"""Content negotiation of REST v2."""

from __future__ import annotations

import pytest

from ottla.web.gateway.rest_v2.media_types import (
    accepted_formats,
    answer_type,
    embedded_format,
)
from ottla.web.gateway.rest_v2.v2_errors import V2Error


@pytest.mark.parametrize(
    ("content_type", "format_"),
    [
        (None, "binary"),
        ("application/json", "binary"),
        ("application/vnd.kafka.v2+json", "binary"),
        ("application/vnd.kafka.avro.v2+json", "avro"),
        ("application/vnd.kafka.json.v2+json; charset=utf-8", "json"),
        ("Application/Vnd.Kafka.JsonSchema.V2+Json", "jsonschema"),
        ("application/vnd.kafka.protobuf+json", "protobuf"),
        ("application/octet-stream", "binary"),
    ],
)
def test_the_content_type_names_the_format(content_type: str | None, format_: str) -> None:
    assert embedded_format(content_type) == format_


@pytest.mark.parametrize(
    "content_type",
    ["application/vnd.kafka.v3+json", "application/vnd.kafka.json+avro", "text/plain", "", "a"],
)
def test_other_content_types_are_not_supported(content_type: str) -> None:
    with pytest.raises(V2Error) as refused:
        embedded_format(content_type)
    assert refused.value.status == 415


@pytest.mark.parametrize(
    ("accept", "formats"),
    [
        (None, None),
        ("*/*", [None]),
        ("application/vnd.kafka.json.v2+json", ["json"]),
        ("application/vnd.kafka.avro.v2+json;q=0.5, foo/*, application/json", ["avro", None]),
    ],
)
def test_accept_names_formats(accept: str | None, formats: list[str | None] | None) -> None:
    assert accepted_formats(accept) == formats


@pytest.mark.parametrize("accept", ["text/html", "foo/*", "application/octet-stream", "*/baz"])
def test_a_client_that_accepts_nothing_of_this_is_told_so(accept: str) -> None:
    with pytest.raises(V2Error) as refused:
        accepted_formats(accept)
    assert refused.value.status == 406


def test_a_client_that_accepts_plain_json_gets_it() -> None:
    assert answer_type("application/json") == "application/json"
    assert answer_type("*/*") == "application/vnd.kafka.v2+json"
    assert answer_type(None, "avro") == "application/vnd.kafka.avro.v2+json"
