"""The source text of a generated function, and the objects that it refers to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from struct import Struct as Layout
from typing import Any


class SourceText:
    """Collects lines at the current indentation; `make` compiles them into a function."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self._lines: list[str] = []
        self._depth = 0
        self._names = 0
        self.scope = dict(scope)

    def line(self, text: str) -> None:
        self._lines.append(" " * self._depth + text)

    @contextmanager
    def block(self, opening: str) -> Iterator[None]:
        self.line(opening)
        self._depth += 1
        yield
        self._depth -= 1

    def fresh(self, stem: str) -> str:
        """A name that is unique in this function."""
        self._names += 1
        return f"{stem}{self._names}"

    def constant(self, stem: str, value: Any) -> str:
        """A name by which the function can refer to `value`."""
        name = self.fresh(stem)
        self.scope[name] = value
        return name

    def layout(self, codes: str, method: str) -> str:
        """The name of `pack` or `unpack_from` for a run of fixed-size fields."""
        name = f"{method}_{codes}".replace("?", "bool")
        if name not in self.scope:
            self.scope[name] = getattr(Layout(">" + codes), method)
        return name

    def make(self, name: str, title: str) -> Any:
        code = compile("\n".join(self._lines), f"<{title}>", "exec")
        exec(code, self.scope)  # noqa: S102 - the text is made of our own declarations only
        return self.scope[name]
