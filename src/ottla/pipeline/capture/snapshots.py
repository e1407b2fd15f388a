"""Which transactions a snapshot of the database shows: the others are read from the log."""

from __future__ import annotations

from typing import Final, NamedTuple, Self

_WRAP: Final = 1 << 32


class VisibleTransactions(NamedTuple):
    """PostgreSQL's `pg_snapshot`: all transactions before `xmin` have ended, those from `xmax` on
    had not begun, and of the others `running` had not ended."""

    xmin: int
    xmax: int
    running: frozenset[int]

    @classmethod
    def parse(cls, text: str) -> Self:
        """From PostgreSQL's text, such as 10:20:10,14,15."""
        xmin, xmax, running = text.split(":")
        return cls(
            int(xmin), int(xmax), frozenset(int(each) for each in running.split(",") if each)
        )

    def shows(self, transaction_id: int) -> bool:
        """Of a transaction that has been committed since, by the lower 32 bits of its id."""
        whole = self._whole(transaction_id)
        return whole < self.xmin or (whole < self.xmax and whole not in self.running)

    def _whole(self, transaction_id: int) -> int:
        """The id that is nearest to the snapshot: PostgreSQL never has ids apart by half of the
        range."""
        whole = self.xmax - self.xmax % _WRAP + transaction_id
        if whole - self.xmax > _WRAP // 2:
            whole -= _WRAP
        elif self.xmax - whole > _WRAP // 2:
            whole += _WRAP
        return whole
