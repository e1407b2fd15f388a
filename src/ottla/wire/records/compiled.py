"""Loops over bytes that are compiled to machine code, by Numba.

A loop is compiled when it is first called, once for the machine: what came out is kept beside its
file, or in the user's cache directory if that cannot be written to; where neither can, each process
compiles for itself. It is made anew when its file changes, so the steps of a loop are in its file.
While a loop runs it holds no lock. It does not raise: it answers with a number that says what was
wrong.

It is compiled for each combination of types that it is called with, and memory that may be written
to is of another type than memory that may not: so what a loop only reads is given to it as a view
that says so (`readable`).

Numba is an optional dependency of the project, and takes a moment to import: what needs these loops
comes with an extra, and imports them when it begins with its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

Bytes: TypeAlias = npt.NDArray[np.uint8]
Int32s: TypeAlias = npt.NDArray[np.int32]
Int64s: TypeAlias = npt.NDArray[np.int64]

# The types that loops make numbers of, which mypy takes for objects of a kind of their own.
int64: Final[Any] = np.int64
uint64: Final[Any] = np.uint64
uint32: Final[Any] = np.uint32

_Scalar = TypeVar("_Scalar", bound=np.generic)
_Function = TypeVar("_Function", bound=Callable[..., Any])


def readable(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    view = array.view()
    view.flags.writeable = False
    return view


def loop(function: _Function) -> _Function:
    """Indices are not checked: a loop has to know that they are right."""
    made: Any
    try:
        made = njit(cache=True, nogil=True)(function)
        _drop_unreadable(made)
    except RuntimeError:
        # Nothing can be kept: a container without a home, an installation of somebody else.
        made = njit(nogil=True)(function)
    return cast(_Function, made)


def _drop_unreadable(made: Any) -> None:
    """Deletes what was compiled from an older version of a loop's file, if that names types which
    do not exist any more. Numba only compares dates after it has read all of it."""
    try:
        made._cache._cache_file._load_index()  # noqa: SLF001 - Numba has no public way
    except (AttributeError, ImportError):
        made._cache.flush()  # noqa: SLF001


def step(function: _Function) -> _Function:
    """Becomes a part of the loops that call it; a call would take longer than its work."""
    made: Any = njit(inline="always")(function)
    return cast(_Function, made)


def _copy_bytes(_: Any, source: Any, at: Any, target: Any, to: Any, length: Any) -> Any:  # noqa: ARG001
    """From `at` in the source to `to` in the target. Copying byte by byte, or a slice into a
    slice, takes several times as long."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        start = context.make_array(kinds[0])(context, builder, arguments[0]).data
        goal = context.make_array(kinds[2])(context, builder, arguments[2]).data
        cgutils.raw_memcpy(  # type: ignore[no-untyped-call]
            builder,
            builder.gep(goal, [arguments[3]]),
            builder.gep(start, [arguments[1]]),
            arguments[4],
            1,
        )
        return context.get_dummy_value()

    return types.void(source, types.int64, target, types.int64, types.int64), write


copy_bytes: Final[Any] = intrinsic(_copy_bytes)
