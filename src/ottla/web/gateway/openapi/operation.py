"""One call as the document describes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ottla.web.gateway.messages.bodies import PARTITION_MAX


class Parameter(NamedTuple):
    """Of the path unless `place` says otherwise."""

    name: str
    schema: Mapping[str, Any]
    text: str
    example: Any = None
    place: str = "path"

    def described(self) -> dict[str, Any]:
        found = {
            "name": self.name,
            "in": self.place,
            "required": self.place == "path",
            "description": self.text,
            "schema": dict(self.schema),
        }
        return found if self.example is None else {**found, "example": self.example}


class HttpOperation(NamedTuple):
    """`body` and `answer` are msgspec types. `statuses` are the problems beside those that every
    call may have."""

    method: str
    path: str
    name: str
    summary: str
    answer: Any = None
    body: Any = None
    example: Any = None
    parameters: tuple[Parameter, ...] = ()
    statuses: tuple[int, ...] = ()
    success: int = 200
    media_type: str = "application/json"
    is_v2: bool = False
    body_is_required: bool = True


def text(maximum: int, pattern: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": maximum}
    return found if pattern is None else {**found, "pattern": pattern}


def integer(low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high}


TOPIC = Parameter("topic", text(249, "^[a-zA-Z0-9._-]+$"), "Name of the topic.", "user-events")
GROUP = Parameter("group", text(249, "^[a-zA-Z0-9._-]+$"), "Id of the group.", "readers")
INSTANCE = Parameter(
    "instance", text(128, "^[a-zA-Z0-9._-]+$"), "Name of the consumer in its group.", "one"
)
PARTITION = Parameter("partition", integer(0, PARTITION_MAX), "Number of the partition.", 0)
INSTANCE_QUERY = INSTANCE._replace(
    place="query",
    text="Name of the consumer in its group, if it has several. Default: default. The header "
    "Ottla-Instance says the same.",
    example=None,
)
