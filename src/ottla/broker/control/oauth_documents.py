"""Reads the documents of OAUTHBEARER from a file: or https: URL: keys that verify tokens, tokens.

Blocks: call it on a worker, or while the node starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias
from urllib.parse import unquote, urlsplit

from ottla.runtime.disk import Disk
from ottla.runtime.https_request import HttpsError, HttpsRequest

# A JWKS of 100 keys has about 100 KB.
DOCUMENT_BYTES_MAX: Final = 512 * 1024

# Sends a request and returns the body of its response. Raises OSError.
Fetch: TypeAlias = Callable[[HttpsRequest], bytes]


def fetch_document(request: HttpsRequest) -> bytes:
    # Imported only by a node that needs it.
    from ottla.runtime.https import send_https

    return send_https(request, bytes_max=DOCUMENT_BYTES_MAX)


def is_file_url(url: str) -> bool:
    return urlsplit(url).scheme == "file"


def read_document(disk: Disk, request: HttpsRequest, fetch: Fetch) -> bytes:
    """Raises OSError, whose message has the path of a file, and only the host of an https URL."""
    if not is_file_url(request.url):
        return fetch(request)
    path = path_of(request.url)
    file = disk.open_readonly(path)
    try:
        document = file.read_at(0, DOCUMENT_BYTES_MAX + 1)
    finally:
        file.close()
    if len(document) > DOCUMENT_BYTES_MAX:
        raise OSError(f"{path} is larger than {DOCUMENT_BYTES_MAX} bytes")
    return document


def path_of(url: str) -> str:
    """Of a file: URL. Raises HttpsError."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.netloc not in ("", "localhost") or not path.startswith("/"):
        raise HttpsError("a file: URL must have an absolute path, such as file:///etc/keys.json")
    return path
