"""Which errors no fault of the world explains: those are bugs, wherever they show."""

from __future__ import annotations

from asyncio import CancelledError

from ottla.model import KafkaError
from ottla.simulation.disk.disk_faults import PowerLost
from ottla.storage.errors import StorageError

_EXPLAINED = (OSError, KafkaError, StorageError, EOFError, PowerLost, CancelledError)


def is_unexpected(error: BaseException) -> bool:
    """A failing disk, a lost connection and what comes of them are expected; anything else is
    not."""
    return not isinstance(error, _EXPLAINED)
