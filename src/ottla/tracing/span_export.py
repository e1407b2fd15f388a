"""Sends spans to a collector, with OTLP over HTTP, on a thread of its own.

What a collector cannot accept now is sent again with the next batch; the tracer bounds what waits.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from threading import Event, Thread
from typing import Final, TypeAlias

from ottla.configs.otlp_endpoint import OtlpEndpoint
from ottla.runtime.https_request import HttpsError
from ottla.runtime.otlp_post import post_otlp
from ottla.tracing.span_encoding import export_spans
from ottla.tracing.tracer import Tracer

_log = logging.getLogger(__name__)

_INTERVAL_S: Final = 1.0
_RETRY_S: Final = 5.0
# Longer than a request may take.
_CLOSE_S: Final = 6.0

# Of OTLP: the same request may succeed later.
_RETRIABLE: Final = frozenset((0, 429, 502, 503, 504))

# Raises HttpsError.
Post: TypeAlias = Callable[[OtlpEndpoint, bytes], None]


class SpanExport:
    """`start` once, then `close` once. `resource` says which program has recorded the spans."""

    def __init__(
        self,
        tracer: Tracer,
        endpoint: OtlpEndpoint,
        resource: Mapping[str, str],
        post: Post = post_otlp,
    ) -> None:
        self._tracer = tracer
        self._endpoint = endpoint
        self._resource = resource
        self._post = post
        self._is_closing = Event()
        self._thread = Thread(target=self._run, name="traces", daemon=True)
        self._has_failed = False
        # Spans since the start.
        self.exported = 0

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Sends what has ended, once. Blocks for some seconds at most. Does nothing before
        `start`."""
        if self._thread.ident is None:
            return
        self._is_closing.set()
        self._tracer.wanted.set()
        self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        while not self._is_closing.is_set():
            self._tracer.wanted.wait(_INTERVAL_S)
            if not self._export():
                self._is_closing.wait(_RETRY_S)
        self._export()

    def _export(self) -> bool:
        """Everything that has ended."""
        while spans := self._tracer.take():
            try:
                self._post(self._endpoint, export_spans(spans, self._resource))
            except HttpsError as error:
                if error.status in _RETRIABLE:
                    self._tracer.give_back(spans)
                else:
                    self._tracer.dropped += len(spans)
                # Once until it succeeds again.
                if not self._has_failed:
                    _log.warning("cannot send traces with OTLP to %s", error)
                self._has_failed = True
                return False
            self.exported += len(spans)
            if self._has_failed:
                _log.info("traces are sent with OTLP to %s again", self._endpoint.host)
            self._has_failed = False
        return True
