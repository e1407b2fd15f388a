"""Posts one OTLP message to a collector: compressed, over HTTP or HTTPS. Blocks."""

from __future__ import annotations

import zlib
from typing import Final

from ottla.configs.otlp_endpoint import OtlpEndpoint
from ottla.configs.value import Password
from ottla.runtime.https_request import HttpContent, HttpsRequest

_CONTENT_TYPE: Final = "application/x-protobuf"
# Quick and still a tenth of the size: names repeat.
_COMPRESSION_LEVEL: Final = 1
_GZIP: Final = zlib.MAX_WBITS | 16
# A program that stops waits for a request that is being sent.
_SECONDS_MAX: Final = 5.0
_RESPONSE_BYTES_MAX: Final = 64 * 1024


def post_otlp(endpoint: OtlpEndpoint, body: bytes) -> None:
    """Raises HttpsError."""
    # Imported where it is needed: the modules of HTTP and TLS are large.
    from ottla.runtime.https import send_https

    compressor = zlib.compressobj(_COMPRESSION_LEVEL, wbits=_GZIP)
    compressed = compressor.compress(body) + compressor.flush()
    headers = {"Content-Encoding": Password("gzip"), **endpoint.headers}
    request = HttpsRequest(
        endpoint.url,
        content=HttpContent(_CONTENT_TYPE, compressed, headers),
        allows_plaintext=True,
        connect_seconds_max=_SECONDS_MAX,
        seconds_max=_SECONDS_MAX,
    )
    send_https(request, bytes_max=_RESPONSE_BYTES_MAX)
