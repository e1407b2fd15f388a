"""`/openapi.json`, and `/docs`: a page that needs nothing from other hosts."""

from __future__ import annotations

import json
from functools import cache
from html import escape
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from ottla.web.gateway.answering import JSON
from ottla.web.gateway.openapi.document import OPERATIONS, openapi_document
from ottla.web.gateway.openapi.operation import HttpOperation

_STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    "pre{background:#f4f4f4;padding:.8em;overflow:auto}h2{margin-top:2em}"
    "code.method{background:#234;color:#fff;padding:.1em .5em;border-radius:.3em}"
)
# The page runs nothing and loads nothing.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


class OpenApiPages:
    def routes(self) -> list[BaseRoute]:
        return [
            Route("/openapi.json", self.openapi, methods=["GET"]),
            Route("/docs", self.docs, methods=["GET"]),
        ]

    async def openapi(self, _request: Request) -> Response:
        return Response(_document(), media_type=JSON)

    async def docs(self, _request: Request) -> Response:
        return HTMLResponse(_page(), headers={"Content-Security-Policy": _POLICY})


@cache
def _document() -> bytes:
    return json.dumps(openapi_document(), indent=1).encode()


@cache
def _page() -> str:
    parts = "".join(map(_section, OPERATIONS))
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>Ottla HTTP gateway</title>"
        f"<style>{_STYLE}</style><h1>Ottla HTTP gateway</h1>"
        "<p>The same as a document: <a href=openapi.json>openapi.json</a></p>"
        f"{parts}</html>"
    )


def _section(operation: HttpOperation) -> str:
    rows = "".join(
        f"<li><code>{escape(each.name)}</code> ({each.place}): {escape(each.text)}</li>"
        for each in operation.parameters
    )
    return (
        f"<h2><code class=method>{operation.method.upper()}</code> "
        f"<code>{escape(operation.path)}</code></h2><p>{escape(operation.summary)}</p>"
        f"<ul>{rows}</ul><pre>{escape(curl_example(operation))}</pre>"
    )


def curl_example(operation: HttpOperation, server: str = "http://127.0.0.1:8082") -> str:
    """A command that calls the operation."""
    path = operation.path
    for parameter in operation.parameters:
        path = path.replace(f"{{{parameter.name}}}", str(parameter.example))
    command = f"curl -X {operation.method.upper()} {server}{path}"
    if operation.name == "stream":
        return f"curl -N '{server}{path}?topics=user-events'"
    if operation.body is None:
        return command
    body = json.dumps(operation.example)
    media_type = operation.media_type if operation.is_v2 else JSON
    return f"{command} \\\n    -H 'Content-Type: {media_type}' \\\n    -d '{body}'"


def example_request(operation: HttpOperation) -> tuple[str, str, Any]:
    """The method, the path and the body of the example."""
    path = operation.path
    for parameter in operation.parameters:
        path = path.replace(f"{{{parameter.name}}}", str(parameter.example))
    return operation.method.upper(), path, operation.example
