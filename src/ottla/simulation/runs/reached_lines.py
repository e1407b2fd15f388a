"""Measures which lines of the core packages simulations execute, and which they never do."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

PACKAGES: Final = ("raft", "controller", "replication", "storage")


@dataclass(slots=True)
class ReachedLines:
    """The lines executed inside `watching`, by file."""

    reached: dict[str, set[int]] = field(default_factory=dict)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Records every line executed inside. Makes code about ten times slower."""
        self.reached = self.reached or {str(path): set() for path in _files()}
        sys.settrace(self._entered)
        try:
            yield
        finally:
            sys.settrace(None)

    def unreached(self) -> dict[str, list[int]]:
        """By file: lines of functions that were never executed. Module-level lines do not count."""
        found = {}
        for name, reached in self.reached.items():
            missing = sorted(_lines_of_functions(Path(name)) - reached)
            if missing:
                found[name] = missing
        return found

    def share(self, package: str) -> float:
        """The share of a package's function lines that was executed, from 0 to 1."""
        total = missing = 0
        unreached = self.unreached()
        for name in self.reached:
            if f"/ottla/{package}/" in name:
                total += len(_lines_of_functions(Path(name)))
                missing += len(unreached.get(name, ()))
        return 1 - missing / total if total else 0.0

    def _entered(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        lines = self.reached.get(frame.f_code.co_filename)
        if lines is None:
            return None

        def line(frame: FrameType, _event: str, _argument: Any) -> Any:
            lines.add(frame.f_lineno)
            return line

        lines.add(frame.f_lineno)
        return line


def _files() -> Iterator[Path]:
    specification = importlib.util.find_spec("ottla")
    assert specification is not None
    assert specification.submodule_search_locations is not None
    root = Path(next(iter(specification.submodule_search_locations)))
    for package in PACKAGES:
        yield from sorted((root / package).rglob("*.py"))


def _lines_of_functions(path: Path) -> set[int]:
    """The lines of functions, without those that run only at import."""
    found: set[int] = set()
    todo = [compile(path.read_text(), str(path), "exec")]
    while todo:
        code = todo.pop()
        todo += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        if code.co_flags & 0x2:  # Optimized: a function's, not a module's or class body's.
            found.update(line for *_, line in code.co_lines() if line is not None)
            found.discard(code.co_firstlineno)
    return found
