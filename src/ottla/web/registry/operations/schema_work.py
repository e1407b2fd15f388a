"""Parses and compares schemas: small ones here, large ones and Protobuf in a worker process.

A small schema takes less than a millisecond. What takes longer, or runs a compiler on what a
stranger wrote, must neither hold the event loop nor the process: the worker has limits of time and
memory, and the next schema gets a new one.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final, TypeVar, TypeVarTuple

from ottla.runtime.background import WorkerCrashedError
from ottla.runtime.limited_job import JobLimits, run_limited
from ottla.runtime.worker_lane import WorkerLane
from ottla.schemas import (
    CompatibilityLevel,
    InvalidSchemaError,
    SchemaSource,
    SchemaType,
)
from ottla.schemas.work import (
    EarlierVersion,
    InspectedSchema,
    check_schema,
    format_schema,
    inspect_schema,
)
from ottla.web.registry.errors import invalid_schema

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")

_SMALL: Final = 8 << 10
_SECONDS_MAX: Final = 5.0
_LIMITS: Final = JobLimits(cpu_seconds=10)
_IDLE_SECONDS: Final = 300.0
_KEPT_MAX: Final = 2_000


class SchemaWork:
    """Owned by one event loop; ended by `close`."""

    def __init__(self) -> None:
        self._lane = WorkerLane("schemas", idle_seconds=_IDLE_SECONDS)
        self._inspected: OrderedDict[tuple[SchemaSource, bool], InspectedSchema] = OrderedDict()

    async def inspect(self, source: SchemaSource, *, is_strict: bool) -> InspectedSchema:
        """Raises HttpProblem 42201."""
        key = (source, is_strict)
        found = self._inspected.get(key)
        if found is None:
            found = await self._run(_is_small((source,)), _inspect, source, is_strict)
            self._inspected[key] = found
            if len(self._inspected) > _KEPT_MAX:
                self._inspected.popitem(last=False)
        return found

    async def check(
        self, level: CompatibilityLevel, source: SchemaSource, earlier: Sequence[EarlierVersion]
    ) -> list[str]:
        """Why the schema is not compatible with the earlier versions, the oldest first."""
        if level is CompatibilityLevel.NONE or not earlier:
            return []
        compared = list(earlier if level.is_transitive else earlier[-1:])
        is_small = _is_small((source, *(each.source for each in compared)))
        return await self._run(is_small, check_schema, level, source, compared)

    async def formatted(self, source: SchemaSource, form: str) -> str:
        return await self._run(_is_small((source,)), format_schema, source, form)

    async def close(self) -> None:
        await self._lane.cancel()
        await asyncio.get_running_loop().run_in_executor(None, self._lane.shut_down)

    async def _run(
        self, is_small: bool, function: Callable[[*Arguments], T], *arguments: *Arguments
    ) -> T:
        try:
            if is_small:
                return function(*arguments)
            async with asyncio.timeout(_SECONDS_MAX):
                return await self._lane.compute(run_limited, _LIMITS, function, arguments)
        except InvalidSchemaError as error:
            raise invalid_schema(f"Invalid schema: {error}") from None
        except (TimeoutError, WorkerCrashedError, MemoryError):
            raise invalid_schema("Invalid schema: it takes too much time or memory") from None


def _is_small(sources: Sequence[SchemaSource]) -> bool:
    return (
        all(each.type is not SchemaType.PROTOBUF for each in sources)
        and sum(each.size for each in sources) <= _SMALL
    )


def _inspect(source: SchemaSource, is_strict: bool) -> InspectedSchema:
    return inspect_schema(source, is_strict=is_strict)
