"""Operations of the controller: a request and the image of the cluster in, records and a response
out.

An operation returns the records that carry out the request, and the response. It has no side
effects. The controller (controller.py) appends the records, applies them, and sends the response
when they are committed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from ottla.configs import NodeConfig
from ottla.controller.mutation_quotas import UNLIMITED, MutationQuota
from ottla.controller.topic_descriptions import TopicDescriptions
from ottla.metadata import MetadataImage
from ottla.model.ids import TimestampMs
from ottla.runtime.dice import Dice
from ottla.security.acls.rights import UNRESTRICTED, Rights
from ottla.wire.schema import Message

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)


class Context(NamedTuple):
    """The inputs of an operation besides the image and the request."""

    cluster_id: str
    # The config of the controller's own node, including dynamic configs from the image.
    node: NodeConfig
    descriptions: TopicDescriptions
    dice: Dice
    # The offset of the operation's first record.
    next_offset: int
    now_ms: TimestampMs
    # Of the sender of the request, which may be a client of another node.
    rights: Rights = UNRESTRICTED
    # The quota of its changes of topics.
    quota: MutationQuota = UNLIMITED


class OperationOutcome(NamedTuple, Generic[Response]):
    """The records take effect together or not at all."""

    records: list[Message]
    response: Response


Operation: TypeAlias = Callable[[MetadataImage, Request, Context], OperationOutcome[Response]]
