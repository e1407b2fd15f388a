"""The outcomes of a request for many items, some of which may have failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar, cast, overload

from ottla.client.errors import ClientError

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")


class Results(Generic[K, V]):
    """By item: its value, or the error with which it failed.

    `results[item]` returns the value or raises the error; `all()` returns every value or raises the
    first error. `succeeded` and `failed` have the two kinds apart.
    """

    __slots__ = ("_outcomes",)

    def __init__(self, outcomes: Mapping[K, V | ClientError]) -> None:
        self._outcomes = outcomes

    @property
    def succeeded(self) -> dict[K, V]:
        return {
            key: outcome
            for key, outcome in self._outcomes.items()
            if not isinstance(outcome, ClientError)
        }

    @property
    def failed(self) -> dict[K, ClientError]:
        return {
            key: outcome
            for key, outcome in self._outcomes.items()
            if isinstance(outcome, ClientError)
        }

    def all(self) -> dict[K, V]:
        """Every value. Raises the error of the first item that failed."""
        for error in self.failed.values():
            raise error
        return self.succeeded

    def __getitem__(self, key: K) -> V:
        outcome = self._outcomes[key]
        if isinstance(outcome, ClientError):
            raise outcome
        return outcome

    def error(self, key: K) -> ClientError | None:
        """Why the item failed; None if it succeeded."""
        outcome = self._outcomes[key]
        return outcome if isinstance(outcome, ClientError) else None

    @overload
    def get(self, key: K) -> V | None: ...

    @overload
    def get(self, key: K, default: D) -> V | D: ...

    def get(self, key: K, default: D | None = None) -> V | D | None:
        """The value, or the default if the item failed."""
        outcome = self._outcomes.get(key)
        if outcome is None and key not in self._outcomes:
            return default
        return default if isinstance(outcome, ClientError) else cast(V, outcome)

    def __iter__(self) -> Iterator[K]:
        return iter(self._outcomes)

    def __len__(self) -> int:
        return len(self._outcomes)

    def __contains__(self, key: object) -> bool:
        return key in self._outcomes

    def __repr__(self) -> str:
        return f"Results({dict(self._outcomes)!r})"
