"""A tracer of an application, and the context of the step in which the program is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from ottla.client.errors import ConfigError
from ottla.client.records import ConsumedRecord
from ottla.configs.errors import InvalidConfigError
from ottla.configs.otlp_endpoint import OtlpSetting, parse_otlp_endpoint
from ottla.configs.value import Password
from ottla.runtime.dice import SystemDice
from ottla.runtime.system_clock import SystemClock
from ottla.tracing import Attributes, SpanExport, SpanKind, TraceContext, Tracer

_SETTING: Final = OtlpSetting("endpoint", "headers", "/v1/traces")
_LINKS_MAX: Final = 128
_current: Final[ContextVar[TraceContext | None]] = ContextVar("ottla_trace", default=None)


class Tracing:
    """Use it with `async with`, or with `with` in programs without an event loop. The end of the
    block sends the remaining spans, for some seconds at most.

    `service` is the name of the application. `headers` are headers of the requests to the
    collector, such as a token. `sample_ratio` is the fraction of the traces that begin here and are
    recorded. Raises ConfigError for an invalid endpoint.
    """

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        service: str = "ottla-client",
        headers: Mapping[str, str] | None = None,
        sample_ratio: float = 1.0,
    ) -> None:
        self._tracer: Tracer | None = None
        self._export: SpanExport | None = None
        if endpoint is None:
            return
        try:
            parsed = parse_otlp_endpoint(endpoint, None, _SETTING)
        except InvalidConfigError as error:
            raise ConfigError(str(error)) from None
        if parsed is None:
            raise ConfigError("endpoint: it is empty")
        more = {name: Password(value) for name, value in (headers or {}).items()}
        self._tracer = Tracer(SystemClock(), SystemDice(), sample_ratio=sample_ratio)
        self._export = SpanExport(
            self._tracer, replace(parsed, headers=more), {"service.name": service}
        )

    def __enter__(self) -> Self:
        if self._export is not None:
            self._export.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if self._export is not None:
            self._export.close()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if self._export is not None:
            await asyncio.to_thread(self._export.close)

    @contextmanager
    def processing(self, *records: ConsumedRecord) -> Iterator[None]:
        """Opens a span for the processing of a record, which continues the record's trace; for
        several records, a new trace with links to theirs. `sending` within the block is a child
        span."""
        contexts = [TraceContext.of_headers(record.headers) for record in records[:_LINKS_MAX]]
        topics = sorted({record.topic for record in records})
        attributes: Attributes = {
            "messaging.system": "kafka",
            "messaging.operation.name": "process",
            "messaging.operation.type": "process",
            "messaging.destination.name": ",".join(topics),
        }
        parent = None
        if len(records) == 1:
            parent = contexts[0]
            attributes["messaging.destination.partition.id"] = str(records[0].partition)
            attributes["messaging.kafka.offset"] = records[0].offset
        else:
            attributes["messaging.batch.message_count"] = len(records)
        links = () if len(records) == 1 else tuple(each for each in contexts if each is not None)
        name = f"process {' '.join(topics)}"
        with self._step(name, SpanKind.CONSUMER, parent, attributes, links):
            yield

    @contextmanager
    def sending(self, topic: str) -> Iterator[list[tuple[str, bytes]]]:
        """Opens a span and returns the headers for messages to this topic: pass them to `send`,
        with other headers if there are any. The span ends with the block, so it includes what the
        block awaits, such as the acknowledgement."""
        attributes: Attributes = {
            "messaging.system": "kafka",
            "messaging.operation.name": "send",
            "messaging.operation.type": "send",
            "messaging.destination.name": topic,
        }
        parent = _current.get()
        with self._step(f"send {topic}", SpanKind.PRODUCER, parent, attributes) as context:
            yield [] if context is None else list(context.headers())

    @contextmanager
    def _step(
        self,
        name: str,
        kind: SpanKind,
        parent: TraceContext | None,
        attributes: Attributes,
        links: tuple[TraceContext, ...] = (),
    ) -> Iterator[TraceContext | None]:
        tracer, span, context = self._tracer, None, parent
        if tracer is not None:
            span = tracer.start(name, kind, parent, attributes)
            span.links = links
            context = span.context
        before = _current.set(context)
        error: str | None = None
        try:
            yield context
        except BaseException as raised:
            error = type(raised).__name__
            raise
        finally:
            _current.reset(before)
            if tracer is not None and span is not None:
                tracer.end(span, error)
