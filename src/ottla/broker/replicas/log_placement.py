"""Chooses the log directory of a new log (KIP-858)."""

from __future__ import annotations

from typing import Final

from ottla.configs import NodeConfig
from ottla.metadata import PartitionRegistration
from ottla.metadata.partition import MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY
from ottla.model import Uuid
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_store import LogStore

EVERY_LOG_DIR: Final = "*"
_NO_DIRECTORY: Final = (MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY)


def is_cordoned(directory: LogDirectory, config: NodeConfig) -> bool:
    """Whether the directory gets no new logs (KIP-1066)."""
    cordoned = config.cordoned_log_dirs
    return directory.path in cordoned or EVERY_LOG_DIR in cordoned


def _id_of(directory: LogDirectory) -> Uuid | None:
    try:
        return directory.id
    except OSError:
        # Creating a log there will fail with the same error, which is handled there.
        return None


class LogPlacement:
    """Places the logs of one delta: in the assigned directory, or in the one with fewest logs."""

    def __init__(self, logs: LogStore, config: NodeConfig, node_id: int) -> None:
        self._node_id = node_id
        self._has_failed = bool(logs.failed)
        self._by_id = {_id_of(directory): directory for directory in logs.directories}
        open_to_all = [each for each in logs.directories if not is_cordoned(each, config)]
        self._counts = {each: len(each.logs) for each in open_to_all or logs.directories}

    def place(
        self, registration: PartitionRegistration, *, is_new: bool, path: str | None = None
    ) -> LogDirectory | None:
        """The directory that the metadata assigns, else the one at `path`, else the one with fewest
        logs. None if there is no directory, or if the log may be in a failed one: then it must not
        be created empty."""
        assigned = registration.directory_of(self._node_id)
        if assigned in self._by_id:
            return self._by_id[assigned]
        if not is_new and (assigned not in _NO_DIRECTORY or self._has_failed):
            return None
        directory = min(
            self._counts, key=lambda each: (each.path != path, self._counts[each]), default=None
        )
        if directory is not None:
            self._counts[directory] += 1
        return directory
