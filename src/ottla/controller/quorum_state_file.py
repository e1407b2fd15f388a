"""`quorum-state`: the epoch, leader and vote of a replica of the quorum (KIP-595)."""

from __future__ import annotations

from typing import Final

from ottla.runtime.disk import Disk
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.files.durable_file import read_file, replace_file
from ottla.wire.errors import ProtocolError
from ottla.wire.stored.quorum_state import (
    QuorumStateData,
    quorum_state_from_json,
    quorum_state_to_json,
)

FILE_NAME: Final = "quorum-state"


def read_quorum_state(disk: Disk, directory: str) -> QuorumStateData | None:
    """The state, or None if the node never took part in a quorum."""
    path = f"{directory}/{FILE_NAME}"
    content = read_file(disk, path)
    if content is None:
        return None
    try:
        return quorum_state_from_json(content.decode())[0]
    except (ProtocolError, UnicodeDecodeError) as error:
        raise CorruptCheckpointError(
            f"{path} is corrupt: {error}. In a cluster of one node it can be removed. In a larger "
            "one do not remove it, because the node could then vote twice: format the node again "
            "and let it join."
        ) from error


def write_quorum_state(disk: Disk, directory: str, state: QuorumStateData, *, version: int) -> None:
    """Replaces the file, durably. Version 1 of the file is for voters with directory ids."""
    content = quorum_state_to_json(state, version)
    replace_file(disk, f"{directory}/{FILE_NAME}", content.encode())
