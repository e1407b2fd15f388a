"""Reads records into the page cache before sending, so that the loop does not block on disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from ottla.broker.network.pending import Pending
from ottla.model import Buffer
from ottla.runtime.background import Background
from ottla.runtime.tasks import Tasks
from ottla.storage.files.file_slice import COPIED_BYTES_MAX, FileSlice, MemorySlice
from ottla.wire.messages.fetch import FetchResponse


class WarmUp:
    """One per node. Its tasks end with the node's."""

    def __init__(self, tasks: Tasks, background: Background) -> None:
        self._tasks = tasks
        self._background = background

    def when_warm(
        self, slices: list[FileSlice], response: FetchResponse
    ) -> FetchResponse | Pending:
        """Returns the response, once its records can be sent without waiting for the disk."""
        cold = [each for each in slices if not each.is_warm]
        if not cold:
            return response
        pending = Pending()
        self._tasks.start("warm up", self._warm(cold, pending, response))
        return pending

    def then(
        self, cold: list[FileSlice], respond: Callable[[], FetchResponse | Pending]
    ) -> Pending:
        """Responds once these records are in the page cache."""
        pending = Pending()
        self._tasks.start("warm up", self._warm_then(cold, pending, respond))
        return pending

    async def _warm(self, cold: list[FileSlice], pending: Pending, response: FetchResponse) -> None:
        await self._read(cold)
        pending.resolve(response)

    async def _warm_then(
        self,
        cold: list[FileSlice],
        pending: Pending,
        respond: Callable[[], FetchResponse | Pending],
    ) -> None:
        await self._read(cold)
        pending.follow(respond())

    async def _read(self, cold: list[FileSlice]) -> None:
        for each in cold:
            # A failed read fails again when the records are sent, and is handled there.
            with suppress(OSError):
                await self._background.run(each.warm)


def records_to_send(records: FileSlice | MemorySlice, slices: list[FileSlice]) -> Buffer:
    """Returns a copy of small cached records. Larger ones are sent from the file: returns the slice
    and adds it to `slices`."""
    if isinstance(records, MemorySlice):
        return records.data
    if records.size <= COPIED_BYTES_MAX and (data := records.read_cached()) is not None:
        return data
    slices.append(records)
    return records  # type: ignore[return-value]  # sized, and sent as a file
