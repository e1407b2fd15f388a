"""Separates errors that injected faults explain from those that are bugs."""

from __future__ import annotations

from asyncio import CancelledError

from ottla.model import KafkaError
from ottla.simulation.disk.disk_faults import PowerLost
from ottla.storage.errors import StorageError

_EXPLAINED = (OSError, KafkaError, StorageError, EOFError, PowerLost, CancelledError)


def is_unexpected(error: BaseException) -> bool:
    """Disk errors, lost connections and their consequences are expected; others are bugs."""
    return not isinstance(error, _EXPLAINED)
