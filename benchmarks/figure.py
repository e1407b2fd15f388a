"""One line of a benchmark's result."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A value, the other side's value where there is one, and the bound that it has to hold."""

    name: str
    value: float
    unit: str
    against: float | None = None
    bound: str = ""
    holds: bool = True

    @property
    def ratio(self) -> float | None:
        """Our value as a multiple of the other side's."""
        return self.value / self.against if self.against else None
