"""Every text of every request and response says what it names."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.wire.apis import LISTENERS, ApiKey, request_class, response_class
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.describe_configs import (
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from ottla.wire.messages.end_txn import EndTxnResponse
from ottla.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseTopic,
)
from ottla.wire.schema import Message, Struct
from ottla.wire.schema.fields import fields_of
from ottla.wire.schema.renaming import NotVisibleError, names_of, renamer_of
from ottla.wire.schema.types import Array, Names, Nested

# A field of one of these names and of another kind is a mistake.
KINDS = {
    "topic": Names.TOPIC,
    "topic_name": Names.TOPIC,
    "topic_id": Names.TOPIC_ID,
    "group_id": Names.GROUP,
    "transactional_id": Names.TRANSACTIONAL_ID,
    "principal": Names.PRINCIPAL,
}


def messages() -> list[type[Message]]:
    return [find(key) for key in LISTENERS for find in (request_class, response_class)]


def structs(cls: type[Struct]) -> list[type[Struct]]:
    found = [cls]
    for field in fields_of(cls):
        kind = field.type.element if isinstance(field.type, Array) else field.type
        if isinstance(kind, Nested):
            found += structs(kind.struct)
    return found


@pytest.mark.parametrize("cls", messages(), ids=lambda cls: cls.__name__)
def test_every_text_says_what_it_names(cls: type[Message]) -> None:
    undeclared = [
        f"{struct.__name__}.{field.name}"
        for struct in structs(cls)
        for field in fields_of(struct)
        if names_of(field.type) is None
    ]
    assert not undeclared, (
        "declare what these fields name, such as TopicName, GroupId or Text for nothing of a "
        f"tenant (wire/schema/types.py): {undeclared}"
    )
    for struct in structs(cls):
        for field in fields_of(struct):
            if field.name in KINDS and names_of(field.type) is not None:
                assert names_of(field.type) is KINDS[field.name], (struct.__name__, field.name)


@pytest.mark.parametrize("cls", messages(), ids=lambda cls: cls.__name__)
def test_every_version_is_translated(cls: type[Message]) -> None:
    for version in cls.versions:
        renamer = renamer_of(cls, version)
        if renamer is not None:
            renamer(cls(), Reversed())  # type: ignore[arg-type]


class Reversed:
    """Turns names round; those with a - are not visible."""

    def __getattr__(self, _kind: str) -> object:
        return self._translate

    def _translate(self, name: Any, _kind: object = None) -> Any:
        if isinstance(name, str) and "-" in name:
            raise NotVisibleError
        return name[::-1]


def test_names_are_translated_in_arrays_and_structs() -> None:
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name="abc"), DeleteTopicState(name=None)], topic_names=["def"]
    )
    renamer = renamer_of(DeleteTopicsRequest, 6)
    assert renamer is not None
    renamer(request, Reversed())  # type: ignore[arg-type]
    assert [each.name for each in request.topics] == ["cba", None]
    # Only in versions that are not sent here.
    assert request.topic_names == ["def"]


def test_elements_that_are_not_visible_are_removed() -> None:
    response = MetadataResponse(
        topics=[MetadataResponseTopic(name=name) for name in ("abc", "x-y", "def")]
    )
    renamer = renamer_of(MetadataResponse, 12)
    assert renamer is not None
    renamer(response, Reversed())  # type: ignore[arg-type]
    assert [each.name for each in response.topics] == ["cba", "fed"]


def test_a_resource_is_translated_by_its_type() -> None:
    seen = []

    class Noting(Reversed):
        def config_resource(self, name: str, kind: int) -> str:
            seen.append((name, kind))
            return name

    results = [DescribeConfigsResult(resource_type=4, resource_name="1")]
    renamer = renamer_of(DescribeConfigsResponse, 4)
    assert renamer is not None
    renamer(DescribeConfigsResponse(results=results), Noting())  # type: ignore[arg-type]
    assert seen == [("1", 4)]


def test_messages_without_names_need_no_translation() -> None:
    assert renamer_of(EndTxnResponse, 3) is None
    assert ApiKey.END_TXN in LISTENERS
