"""The functions that apply records, by record type. The modules beside this one register theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

from ottla.metadata.delta import MetadataDelta
from ottla.metadata.image import MetadataImage
from ottla.wire.schema import Message

R = TypeVar("R", bound=Message)

Apply: TypeAlias = Callable[[MetadataImage, R, MetadataDelta], None]

APPLY: Final[dict[type[Message], Apply[Any]]] = {}


def applies(record: type[R]) -> Callable[[Apply[R]], Apply[R]]:
    """Registers the function that applies records of a type to an image."""

    def register(function: Apply[R]) -> Apply[R]:
        assert record not in APPLY, f"two functions apply {record.__name__}"
        APPLY[record] = function
        return function

    return register
