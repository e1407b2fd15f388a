"""Filter pushdown: filters on topic, partition, offset and timestamp reduce what is read.

Filters on topic, partition and offset are fully applied here, except for `IN` on offsets. A filter
on timestamp only moves the start offset: timestamps need not ascend within a partition, so Spark
filters each record again, and a latest timestamp gives no end offset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from operator import eq, ge, gt, le, lt
from typing import Any, Final

from pyspark.sql.datasource import (
    DataSourceReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from ottla.model import TopicPartition
from ottla.pipeline.reading.ranges import OffsetRange

_COMPARISONS: Final[Mapping[type[Filter], Callable[[Any, Any], bool]]] = {
    EqualTo: eq,
    GreaterThan: gt,
    GreaterThanOrEqual: ge,
    LessThan: lt,
    LessThanOrEqual: le,
    In: lambda found, values: found in values,
}
_OFFSET_MAX: Final = 2**63 - 1


@dataclass(slots=True)
class Pushed:
    """The filters that a reader applies."""

    partition_filters: list[Filter] = field(default_factory=list)
    offset_min: int = 0
    offset_end: int = _OFFSET_MAX
    timestamp_ms_min: int | None = None

    def take(self, condition: Filter) -> bool:
        """Adds a filter. Returns whether it is fully applied here, so that Spark can drop it."""
        column = getattr(condition, "attribute", ())
        value = getattr(condition, "value", None)
        if column in (("topic",), ("partition",)) and type(condition) in _COMPARISONS:
            self.partition_filters.append(condition)
            return True
        if column == ("offset",):
            return self._take_offset(condition, value)
        if column == ("timestamp",) and isinstance(value, datetime) and value.tzinfo is not None:
            if isinstance(condition, EqualTo | GreaterThan | GreaterThanOrEqual):
                start = int(value.timestamp() * 1_000)
                self.timestamp_ms_min = max(self.timestamp_ms_min or 0, start)
            return False
        # These columns are never null.
        return isinstance(condition, IsNotNull) and column in (("topic",), ("partition",))

    def _take_offset(self, condition: Filter, value: Any) -> bool:
        match condition:
            case EqualTo():
                self._narrow(value, value + 1)
            case GreaterThan():
                self._narrow(value + 1, _OFFSET_MAX)
            case GreaterThanOrEqual():
                self._narrow(value, _OFFSET_MAX)
            case LessThan():
                self._narrow(0, value)
            case LessThanOrEqual():
                self._narrow(0, value + 1)
            case In() if value:
                self._narrow(min(value), max(value) + 1)
                return False
            case IsNotNull():
                return True
            case _:
                return False
        return True

    def _narrow(self, start: int, end: int) -> None:
        self.offset_min = max(self.offset_min, start)
        self.offset_end = min(self.offset_end, end)

    def wants(self, partition: TopicPartition) -> bool:
        return all(_holds(each, partition) for each in self.partition_filters)

    def narrowed(self, whole: OffsetRange) -> OffsetRange:
        start = max(whole.start, self.offset_min)
        return OffsetRange(whole.partition, start, max(start, min(whole.end, self.offset_end)))


def _holds(condition: Any, partition: TopicPartition) -> bool:
    found = partition.topic if condition.attribute == ("topic",) else partition.partition
    return _COMPARISONS[type(condition)](found, condition.value)


class PushFilters:
    """A reader's `pushFilters`. Spark calls it if spark.sql.python.filterPushdown.enabled is true.

    If it is false, Spark rejects readers that override `pushFilters`. So this object presents the
    inherited method as its `__func__`, and the same reader works in both cases.
    """

    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, pushed: Pushed) -> None:
        self._pushed = pushed

    def __call__(self, filters: Iterable[Filter]) -> list[Filter]:
        return [each for each in filters if not self._pushed.take(each)]
