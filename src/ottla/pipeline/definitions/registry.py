"""The decorators of a pipeline's module. They register definitions and run nothing.

The loader opens a registry before it executes the module. Imported without one, as in a test of its
functions, a module is plain Python.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from ottla.pipeline.definitions.errors import DefinitionError

if TYPE_CHECKING:
    from ottla.pipeline.definitions.connector import Sink, Source

# Takes DataFrames, whose argument names are those of their definitions, and returns a DataFrame or
# an SQL query over these names.
Function: TypeAlias = Callable[..., Any]
F = TypeVar("F", bound=Function)

MODES: Final = ("append", "update", "complete")


@dataclass(frozen=True, slots=True)
class SourceDefinition:
    name: str
    function: Function
    connector: Source


@dataclass(frozen=True, slots=True)
class ViewDefinition:
    name: str
    function: Function
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SinkDefinition:
    """A sink and its query, which has the same name."""

    name: str
    function: Function
    inputs: tuple[str, ...]
    connector: Sink
    mode: str
    every: str | None


Definition: TypeAlias = SourceDefinition | ViewDefinition | SinkDefinition


@dataclass(slots=True)
class Registry:
    """The definitions of a module, in order. A definition may use those above it."""

    definitions: dict[str, Definition] = field(default_factory=dict)

    def add(self, definition: Definition) -> None:
        """Raises DefinitionError for a duplicate name or an unknown input."""
        if definition.name in self.definitions:
            raise DefinitionError(
                f"{definition.name} is defined twice; every source, view and sink has its own name"
            )
        for name in getattr(definition, "inputs", ()):
            self._check_input(definition.name, name)
        self.definitions[definition.name] = definition

    def _check_input(self, user: str, name: str) -> None:
        found = self.definitions.get(name)
        if isinstance(found, SinkDefinition):
            raise DefinitionError(
                f"{user} takes {name}, which is a sink; take the input of {name} instead"
            )
        if found is None:
            close = get_close_matches(name, self.definitions, n=1)
            hint = f"did you mean {close[0]}?" if close else "define it above"
            raise DefinitionError(
                f"{user} takes {name}, but no source or view with this name is defined above "
                f"it; {hint}"
            )

    @property
    def sinks(self) -> list[SinkDefinition]:
        return [each for each in self.definitions.values() if isinstance(each, SinkDefinition)]


_open: ContextVar[Registry | None] = ContextVar("registry", default=None)


@contextmanager
def registering(registry: Registry) -> Iterator[None]:
    token = _open.set(registry)
    try:
        yield
    finally:
        _open.reset(token)


def _register(definition: Definition) -> None:
    registry = _open.get()
    if registry is not None:
        registry.add(definition)


def source(connector: Source) -> Callable[[F], F]:
    """Declares a source. The function receives its rows and may prepare them: add a watermark or a
    column."""

    def register(function: F) -> F:
        if len(_inputs(function)) != 1:
            raise DefinitionError(f"the source {_name(function)} must take one argument, its rows")
        _register(SourceDefinition(_name(function), function, connector))
        return function

    return register


def view(function: F) -> F:
    """Declares a view of other rows: a function of DataFrames, or one without arguments that
    returns SQL."""
    _register(ViewDefinition(_name(function), function, _inputs(function)))
    return function


def sink(connector: Sink, *, mode: str = "append", every: str | None = None) -> Callable[[F], F]:
    """Declares a query that writes rows, with Spark's output mode.

    A batch starts as soon as possible, or at the interval `every`, such as "10 seconds".
    """

    def register(function: F) -> F:
        name = _name(function)
        if mode not in MODES:
            raise DefinitionError(
                f"the sink {name} has the unknown mode {mode!r}; use one of {', '.join(MODES)}"
            )
        _register(SinkDefinition(name, function, _inputs(function), connector, mode, every))
        return function

    return register


def _name(function: Function) -> str:
    return str(function.__name__)


def _inputs(function: Function) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)
