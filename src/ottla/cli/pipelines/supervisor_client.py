"""Requests of the commands to a supervisor's REST API."""

from __future__ import annotations

import base64
import json
import ssl
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from ottla.cli.exit_codes import CommandError, ExitCode

# A deployment is checked first, which starts Spark; then it may be sent on to the owner.
_TIMEOUT_S: Final = 420.0
_ANSWER_BYTES_MAX: Final = 64 << 20
_REFUSED: Final = 400


class SupervisorClient:
    """`url` may contain a user and a password. Raises CommandError."""

    def __init__(self, url: str, ca: str | None = None) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        try:
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if parts.scheme not in ("http", "https") or not host:
            raise CommandError(
                "--supervisor is a URL such as http://127.0.0.1:8083.", exit_code=ExitCode.USAGE
            )
        self._shown = f"{parts.scheme}://{host}" + ("" if port is None else f":{port}")
        self._host, self._port = host, port
        self._ssl = ssl.create_default_context(cafile=ca) if parts.scheme == "https" else None
        self._headers = {"content-type": "application/json"}
        if parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            self._headers["authorization"] = f"Basic {base64.b64encode(pair).decode()}"

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """JSON, or text if the answer is that."""
        connection = (
            HTTPConnection(self._host, self._port, timeout=_TIMEOUT_S)
            if self._ssl is None
            else HTTPSConnection(self._host, self._port, timeout=_TIMEOUT_S, context=self._ssl)
        )
        content = None if body is None else json.dumps(body)
        try:
            connection.request(method, path, content, self._headers)
            response = connection.getresponse()
            data = response.read(_ANSWER_BYTES_MAX)
        except (OSError, HTTPException) as error:
            raise CommandError(
                f"The supervisor at {self._shown} does not answer: {error}",
                "Start one with: ottla pipelines serve --dir DIR",
                exit_code=ExitCode.UNREACHABLE,
            ) from None
        finally:
            connection.close()
        text = data.decode(errors="replace")
        is_json = response.headers.get_content_type() == "application/json"
        answer = json.loads(text) if is_json and text else text
        if response.status >= _REFUSED:
            message = answer.get("message", text) if isinstance(answer, dict) else text
            raise CommandError(f"{str(message)[:1].upper()}{str(message)[1:]}.")
        return answer


def path_of(name: str, rest: str = "") -> str:
    return f"/connectors/{quote(name, safe='')}{rest}"
