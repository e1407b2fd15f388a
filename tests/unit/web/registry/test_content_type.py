"""Which content type an answer of the registry has."""

from __future__ import annotations

import pytest

from ottla.web.registry.api.content_type import accepted_type
from ottla.web.service.problems import HttpProblem

V1 = "application/vnd.schemaregistry.v1+json"
PLAIN = "application/vnd.schemaregistry+json"
JSON = "application/json"


def chosen(accept: str) -> str:
    return accepted_type({"headers": [(b"host", b"a"), (b"accept", accept.encode())]})


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", V1),
        ("*/*", V1),
        ("*", V1),
        ("application/*", V1),
        ("application/json", JSON),
        ("Application/JSON; charset=utf-8", JSON),
        # Confluent's clients in Python, and Java's own HTTP client.
        (f"{V1}, {PLAIN}, {JSON}", V1),
        ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", V1),
        (f"{JSON}, */*", V1),
        (f"{V1};q=0.5, {JSON}", JSON),
        (f"application/vnd.schemaregistry.v2+json; q=0.1, {PLAIN}; q=0.9", PLAIN),
        (f"{JSON};q=2", JSON),
    ],
)
def test_the_type_with_the_greatest_weight_is_chosen(accept: str, expected: str) -> None:
    assert chosen(accept) == expected


@pytest.mark.parametrize(
    "accept", ["text/html", "text/*", f"{JSON};q=0", f"{JSON};q=nothing", "nonsense", ","]
)
def test_what_cannot_be_written_is_not_acceptable(accept: str) -> None:
    with pytest.raises(HttpProblem) as refused:
        chosen(accept)
    assert refused.value.status == 406


def test_without_a_wish_the_type_is_the_registrys() -> None:
    assert accepted_type({"headers": []}) == V1
