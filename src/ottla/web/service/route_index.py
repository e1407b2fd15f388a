"""Finds the routes that a path may have without trying all of them.

A router tries its routes one after the other, each with a regular expression. Routes are grouped by
their first segment and their number of segments, which a look into a dictionary finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from starlette.routing import BaseRoute, Route, Router, WebSocketRoute
from starlette.types import ASGIApp

_Shape: TypeAlias = tuple[str, int]


class RouteIndex:
    """Routes whose segments are not known, such as mounts, are tried for every path, in their
    place."""

    def __init__(self, routes: Sequence[BaseRoute], default: ASGIApp) -> None:
        shaped = [(_shape(each), each) for each in routes]
        self._routers = {
            shape: _router([each for other, each in shaped if other in (shape, None)], default)
            for shape, _ in shaped
            if shape is not None
        }
        self._others = _router([each for shape, each in shaped if shape is None], default)

    def of(self, path: str) -> Router:
        shape = (path[1:].partition("/")[0], path.count("/"))
        return self._routers.get(shape, self._others)


def _shape(route: BaseRoute) -> _Shape | None:
    if not isinstance(route, Route | WebSocketRoute):
        return None
    first = route.path[1:].partition("/")[0]
    # A parameter that may have several segments has a type.
    if "{" in first or ":" in route.path:
        return None
    return first, route.path.count("/")


def _router(routes: Sequence[BaseRoute], default: ASGIApp) -> Router:
    # Redirects would lose the encoded slashes of a path.
    router = Router(routes, redirect_slashes=False)
    router.default = default
    return router
