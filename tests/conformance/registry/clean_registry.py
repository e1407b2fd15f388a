"""A pytest plugin for Karapace's tests: they expect a registry without subjects, and use the same
names again. Between tests it removes what the last one left."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlsplit

import pytest


@pytest.fixture(autouse=True)
def _cleaned(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    connection = HTTPConnection(urlsplit(request.config.getoption("registry_url")).netloc)
    # Those that others refer to are refused until these are gone.
    while subjects := _call(connection, "GET", "/subjects?deleted=true"):
        for subject in subjects:
            path = f"/subjects/{quote(subject, safe='')}"
            _call(connection, "PUT", f"/mode/{quote(subject, safe='')}", {"mode": "READWRITE"})
            _call(connection, "DELETE", path)
            _call(connection, "DELETE", f"{path}?permanent=true")
    _call(connection, "PUT", "/mode?force=true", {"mode": "READWRITE"})
    _call(connection, "PUT", "/config", {"compatibility": "BACKWARD"})
    connection.close()


def _call(connection: HTTPConnection, method: str, path: str, body: Any = None) -> Any:
    connection.request(method, path, json.dumps(body), {"content-type": "application/json"})
    return json.loads(connection.getresponse().read())
