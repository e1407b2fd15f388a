"""What a controller does for a request: a function of the cluster's image that writes records.

An operation looks at the image and answers with the records that would carry out the request and
with the response. It changes nothing and touches nothing. The driver (controller.py) appends the
records, applies them, and sends the response when they are safe.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from ottla.configs import NodeConfig
from ottla.controller.topic_descriptions import TopicDescriptions
from ottla.metadata import MetadataImage
from ottla.runtime.dice import Dice
from ottla.wire.schema import Message

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)


class Context(NamedTuple):
    """What an operation may know besides the image."""

    cluster_id: str
    # The controller's own node, with the dynamic configs of the image.
    node: NodeConfig
    descriptions: TopicDescriptions
    dice: Dice
    # Where the operation's first record will be in the log.
    next_offset: int


class OperationOutcome(NamedTuple, Generic[Response]):
    """The records take effect together or not at all."""

    records: list[Message]
    response: Response


Operation: TypeAlias = Callable[[MetadataImage, Request, Context], OperationOutcome[Response]]
