"""Routes are found by their shape, and each path has the route that it would have without that."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount, Route, Router
from starlette.types import Receive, Scope, Send

from ottla.web.service.route_index import RouteIndex


async def handler(_request: Request) -> Response:
    return Response()


async def default(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise AssertionError


def routes() -> list[BaseRoute]:
    named = [
        "/",
        "/topics",
        "/topics/{topic}",
        "/topics/special",
        "/topics/{topic}/messages",
        "/topics/{topic}/{kind}",
        "/files/{path:path}",
        "/{first}/late",
    ]
    found: list[BaseRoute] = [Route(each, handler, methods=["GET"]) for each in named]
    return [*found[:4], Mount("/mounted/{name}", routes=[Route("/a", handler)]), *found[4:]]


def matched(router: Router, path: str) -> BaseRoute | None:
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": path, "root_path": ""}
    matches = (each for each in router.routes if each.matches(dict(scope))[0] is Match.FULL)
    return next(matches, None)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/topics",
        "/topics/",
        "/topics/a",
        "/topics/special",
        "/topics/a/messages",
        "/topics/a/other",
        "/topics/a/messages/more",
        "/files/a/b/c",
        "/mounted/x/a",
        "/mounted/x",
        "/anything/late",
        "/nothing",
        "//topics",
    ],
)
def test_a_path_has_the_route_that_it_would_have_among_all(path: str) -> None:
    all_routes = routes()
    expected = matched(Router(all_routes), path)
    assert matched(RouteIndex(all_routes, default).of(path), path) is expected
