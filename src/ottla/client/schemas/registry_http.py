"""Requests to a schema registry over HTTP. They block."""

from __future__ import annotations

import base64
import json
import ssl
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from ottla.client.errors import ClientError, ConfigError

CONTENT_TYPE: Final = "application/vnd.schemaregistry.v1+json"
ANSWER_BYTES_MAX: Final = 16 << 20
_OK: Final = 200


class RegistryError(ClientError):
    """The registry refused a request. `code` is its own error code, `status` the HTTP status."""

    def __init__(self, message: str, code: int = -1, status: int = -1) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


class RegistryUnavailableError(RegistryError):
    """No address of the registry answered."""

    retriable = True


class RegistryAnswer(NamedTuple):
    value: Any
    size: int


class RegistryAddress(NamedTuple):
    """`shown` is the URL without credentials; `authorization` is what the URL names, or empty."""

    shown: str
    is_tls: bool
    host: str
    port: int | None
    path: str
    authorization: str

    @classmethod
    def parse(cls, url: str) -> RegistryAddress:
        """Raises ConfigError."""
        parts = urlsplit(url.strip())
        try:
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise ConfigError(f"the URL of the schema registry is invalid: {error}") from None
        if parts.scheme not in ("http", "https") or not host:
            raise ConfigError(
                f"{_without_credentials(url)!r} is not the URL of a schema registry.",
                "Write it like http://127.0.0.1:8081.",
            )
        authorization = ""
        if parts.username is not None:
            authorization = basic(unquote(parts.username), unquote(parts.password or ""))
        path = parts.path.rstrip("/")
        shown = f"{parts.scheme}://{_without_credentials(parts.netloc)}{path}"
        return cls(shown, parts.scheme == "https", host, port, path, authorization)


class RegistryHttp:
    """Several addresses are tried in their order until one answers. Any thread may call it."""

    def __init__(
        self,
        urls: str,
        *,
        authorization: str,
        ssl_context: ssl.SSLContext | None,
        timeout: float,
    ) -> None:
        self._addresses = [RegistryAddress.parse(each) for each in urls.split(",")]
        self._authorization = authorization
        self._ssl_context = ssl_context
        self._timeout = timeout

    def exchange(self, method: str, path: str, body: str | None = None) -> RegistryAnswer:
        """Raises RegistryError."""
        reasons = []
        for address in self._addresses:
            try:
                status, data = self._send(address, method, path, body)
            except (OSError, HTTPException) as error:
                reasons.append(f"{address.shown}: {error or type(error).__name__}")
                continue
            return _answer(address.shown, path, status, data)
        raise RegistryUnavailableError(f"the schema registry does not answer: {'; '.join(reasons)}")

    def _send(
        self, address: RegistryAddress, method: str, path: str, body: str | None
    ) -> tuple[int, bytes]:
        headers = {"content-type": CONTENT_TYPE, "accept": CONTENT_TYPE}
        authorization = self._authorization or address.authorization
        if authorization:
            headers["authorization"] = authorization
        connection = (
            HTTPSConnection(
                address.host, address.port, timeout=self._timeout, context=self._ssl_context
            )
            if address.is_tls
            else HTTPConnection(address.host, address.port, timeout=self._timeout)
        )
        try:
            content = None if body is None else body.encode()
            connection.request(method, address.path + path, content, headers)
            response = connection.getresponse()
            return response.status, response.read(ANSWER_BYTES_MAX + 1)
        finally:
            connection.close()


def basic(username: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{username}:{password}'.encode()).decode()}"


def _without_credentials(url: str) -> str:
    return url.rpartition("@")[2]


def _answer(url: str, path: str, status: int, data: bytes) -> RegistryAnswer:
    if len(data) > ANSWER_BYTES_MAX:
        raise RegistryError(
            f"the answer of {url}{path} is larger than {ANSWER_BYTES_MAX >> 20} MiB", status=status
        )
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        if status == _OK:
            raise RegistryError(
                f"{url}{path} did not answer with JSON: is {url} a schema registry?", status=status
            ) from None
        answer = None
    if status == _OK:
        return RegistryAnswer(answer, len(data))
    if isinstance(answer, dict) and isinstance(answer.get("message"), str):
        code = answer.get("error_code")
        raise RegistryError(answer["message"], code if isinstance(code, int) else status, status)
    raise RegistryError(f"{url}{path} answered with status {status}", status, status)
