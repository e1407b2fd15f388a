"""`.kafka_cleanshutdown`: marks that every log of a directory was synced and closed.

    {"version":0,"brokerEpoch":42}

The file is removed before the first log is opened. Without it the logs are recovered, so both
writing and removing it are durable. The broker epoch shows the controller which registration of
this broker wrote the logs (KIP-966).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, NamedTuple

from ottla.runtime.disk import Disk
from ottla.storage.files.durable_file import read_file, remove_file, replace_file

FILE_NAME: Final = ".kafka_cleanshutdown"
VERSION: Final = 0
NO_BROKER_EPOCH: Final = -1


class CleanShutdown(NamedTuple):
    """The marker of a clean shutdown. Older brokers and some tools write it without an epoch."""

    broker_epoch: int | None


def write_clean_shutdown(disk: Disk, directory: str, *, broker_epoch: int) -> None:
    content = json.dumps({"version": VERSION, "brokerEpoch": broker_epoch}, separators=(",", ":"))
    replace_file(disk, f"{directory}/{FILE_NAME}", content.encode())


def read_clean_shutdown(disk: Disk, directory: str) -> CleanShutdown | None:
    """The marker, or None if the directory was not shut down cleanly."""
    content = read_file(disk, f"{directory}/{FILE_NAME}")
    if content is None:
        return None
    try:
        parsed = json.loads(content)
    except ValueError:
        return CleanShutdown(None)
    epoch = parsed.get("brokerEpoch") if isinstance(parsed, dict) else None
    return CleanShutdown(epoch if isinstance(epoch, int) else None)


def remove_clean_shutdown(disk: Disk, directory: str) -> None:
    remove_file(disk, f"{directory}/{FILE_NAME}")


def previous_broker_epoch(disk: Disk, paths: Sequence[str]) -> int:
    """The broker epoch that closed all of these directories cleanly, or `NO_BROKER_EPOCH`."""
    markers = [read_clean_shutdown(disk, path) for path in paths]
    epochs = {None if marker is None else marker.broker_epoch for marker in markers}
    epoch = epochs.pop() if len(epochs) == 1 else None
    return NO_BROKER_EPOCH if epoch is None else epoch
