"""Applies records to an image, in the order of the log.

    outside ──begin──▶ in a transaction ──end──▶ outside, with all of its records applied
                             └──abort──▶ outside, with none of them applied

The records of a transaction are applied at its end (KIP-868): an image never shows a part of one.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.metadata.delta import MetadataDelta
from ottla.metadata.errors import MetadataError
from ottla.metadata.image import MetadataImage
from ottla.metadata.replay.registry import APPLY
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.transactions import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)


def apply(image: MetadataImage, record: Message, delta: MetadataDelta) -> None:
    """Applies one record outside of transactions to the image.

    Raises `MetadataError` for a record that contradicts the image, which is then unchanged.
    """
    function = APPLY.get(type(record))
    if function is None:
        raise MetadataError(f"no function applies {type(record).__name__} to the image")
    function(image, record, delta)


class MetadataReplay:
    """An image, and its pending transaction. Has the same owner as the image."""

    __slots__ = ("_waiting", "image")

    def __init__(self, image: MetadataImage) -> None:
        self.image = image
        self._waiting: list[Message] | None = None

    @property
    def is_in_transaction(self) -> bool:
        return self._waiting is not None

    def copy(self) -> MetadataReplay:
        """A replay with its own copy of the image and of the pending transaction."""
        replay = MetadataReplay(self.image.copy())
        replay._waiting = None if self._waiting is None else self._waiting.copy()
        return replay

    def take(self, records: Iterable[Message], delta: MetadataDelta) -> None:
        """Applies records, except those of an unfinished transaction, which wait for its end."""
        image, find = self.image, APPLY.get
        for record in records:
            function = find(type(record))
            if function is None:
                self._take_boundary(record, delta)
            elif self._waiting is not None:
                self._waiting.append(record)
            else:
                function(image, record, delta)

    def _take_boundary(self, record: Message, delta: MetadataDelta) -> None:
        waiting = self._waiting
        if isinstance(record, BeginTransactionRecord):
            if waiting is not None:
                raise MetadataError("a metadata transaction begins inside another one")
            self._waiting = []
            return
        if not isinstance(record, EndTransactionRecord | AbortTransactionRecord):
            raise MetadataError(f"no function applies {type(record).__name__} to the image")
        if waiting is None:
            raise MetadataError("a metadata transaction ends without having begun")
        self._waiting = None
        if isinstance(record, EndTransactionRecord):
            self.take(waiting, delta)
