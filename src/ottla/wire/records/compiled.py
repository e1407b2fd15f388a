"""Loops over bytes that Numba compiles to machine code.

A loop is compiled on its first call, once per machine: the result is cached beside its file, or in
the user's cache directory if that is not writable; if neither is, each process compiles it. It is
recompiled when its file changes, so all steps of a loop must be in the same file.

A running loop does not hold the GIL. It cannot raise exceptions and returns an error number
instead.

A loop is compiled for each combination of argument types. Read-only and writable arrays have
different types, so arrays that a loop only reads are passed as read-only views (`readable`).

Numba is an optional dependency and slow to import: the code that needs these loops belongs to an
extra and imports them only when it starts to read rows.
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

# Functions in compiled code that convert to numbers; Any, because mypy treats NumPy scalars as
# objects.
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
    """Compiles a loop. Indices are not checked: the loop has to ensure that they are valid."""
    made: Any
    try:
        made = njit(cache=True, nogil=True)(function)
        _drop_unreadable(made)
    except RuntimeError:
        # No directory is writable for the cache: for example a container without a home directory.
        made = njit(nogil=True)(function)
    return cast(_Function, made)


def _drop_unreadable(made: Any) -> None:
    """Deletes the cached code of an older version of a loop's file if it refers to types that no
    longer exist. Numba compares timestamps only after it has unpickled the cache index, which fails
    then.
    """
    try:
        made._cache._cache_file._load_index()  # noqa: SLF001 - Numba has no public way
    except (AttributeError, ImportError):
        made._cache.flush()  # noqa: SLF001


def step(function: _Function) -> _Function:
    """Compiles a function that is inlined into loops: a call would take longer than its work."""
    made: Any = njit(inline="always")(function)
    return cast(_Function, made)


def _copy_bytes(_: Any, source: Any, at: Any, target: Any, to: Any, length: Any) -> Any:  # noqa: ARG001
    """Copies `length` bytes from `at` in the source to `to` in the target. Copying byte by byte or
    by slices is several times slower.
    """

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
