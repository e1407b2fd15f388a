"""What the operations that change something share: order, ids, and the way into the topic."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol

from ottla.schemas.registered.records import Change
from ottla.schemas.registered.state import RegistryState
from ottla.schemas.registered.subject_name import SubjectName
from ottla.web.registry.errors import not_permitted
from ottla.web.registry.model.settings_in_scope import mode_in_scope


class AppendChanges(Protocol):
    async def __call__(self, changes: Sequence[Change]) -> None:
        """Writes all of the changes or none, and returns when the state has them. Raises
        HttpProblem, after which they may or may not have been written."""


class RegistryWrites:
    """Operations on one subject follow each other; those on different ones share transactions.

    An id that an operation has taken is never given again, even if its record was not written.
    """

    def __init__(self, state: RegistryState, append: AppendChanges) -> None:
        self.state = state
        self.append = append
        self._locks: dict[str | None, asyncio.Lock] = {}
        self._users: dict[str | None, int] = {}
        self._pending: dict[tuple[str, bytes], int] = {}
        self._taken: dict[str, int] = {}

    @asynccontextmanager
    async def exclusively(self, subjects: Iterable[str | None]) -> AsyncIterator[None]:
        """The subjects belong to this operation. Always taken in the same order."""
        names = sorted(set(subjects), key=lambda each: each or "")
        for name in names:
            self._locks.setdefault(name, asyncio.Lock())
            self._users[name] = self._users.get(name, 0) + 1
        try:
            async with AsyncExitStack() as stack:
                for name in names:
                    await stack.enter_async_context(self._locks[name])
                yield
        finally:
            for name in names:
                self._users[name] -= 1
                if not self._users[name]:
                    del self._users[name], self._locks[name]

    def id_of(self, context: str, digest: bytes) -> int | None:
        """The id of an equal schema, of a registration that is under way as well."""
        known = self.state.id_of(context, digest)
        return self._pending.get((context, digest)) if known is None else known

    def take_id(self, context: str, digest: bytes) -> int:
        highest = max(self.state.highest_ids.get(context, 0), self._taken.get(context, 0))
        self._taken[context] = self._pending[context, digest] = highest + 1
        return highest + 1

    def settle_id(self, context: str, digest: bytes) -> None:
        """After the registration has been written, or has failed."""
        self._pending.pop((context, digest), None)


def check_writable(state: RegistryState, subject: str | None) -> None:
    """Raises HttpProblem 42205."""
    if mode_in_scope(state, subject) in ("READONLY", "READONLY_OVERRIDE"):
        raise not_permitted(
            f"Subject {subject} in context {_context(subject)} is in read-only mode"
        )


def _context(subject: str | None) -> str:
    name = SubjectName.parse(subject or "")
    return "" if name.is_in_default_context else f":{name.context}:"
