"""Values that were used last, within a number and a size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Final, NamedTuple

_COUNT_MAX: Final = 1_000
_BYTES_MAX: Final = 64 << 20


class _Kept(NamedTuple):
    value: Any
    size: int


class RecentlyUsed:
    """One thread owns it. A value larger than `bytes_max` is not kept."""

    def __init__(self, *, count_max: int = _COUNT_MAX, bytes_max: int = _BYTES_MAX) -> None:
        self._count_max = count_max
        self._bytes_max = bytes_max
        self._values: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._bytes = 0

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def get(self, key: Hashable) -> Any:
        """Raises KeyError."""
        self._values.move_to_end(key)
        return self._values[key].value

    def keep(self, key: Hashable, value: Any, size: int) -> None:
        replaced = self._values.pop(key, None)
        if replaced is not None:
            self._bytes -= replaced.size
        if size > self._bytes_max:
            return
        self._values[key] = _Kept(value, size)
        self._bytes += size
        while self._bytes > self._bytes_max or len(self._values) > self._count_max:
            _, oldest = self._values.popitem(last=False)
            self._bytes -= oldest.size
