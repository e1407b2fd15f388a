"""Spans as an ExportTraceServiceRequest of OTLP 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ottla.metrics.otlp.protobuf import bytes_field, fixed64_field, number_field, text_field
from ottla.tracing.span import TraceSpan
from ottla.tracing.trace_context import TraceContext
from ottla.version import __version__

_ERROR: Final = 2
# Varints of negative numbers have 64 bits.
_SIXTY_FOUR_BITS: Final = 0xFFFF_FFFF_FFFF_FFFF


def export_spans(spans: Iterable[TraceSpan], resource: Mapping[str, str]) -> bytes:
    """`resource` says which program has recorded them."""
    scope = bytes_field(1, text_field(1, "ottla") + text_field(2, __version__))
    encoded = b"".join(bytes_field(2, _span(span)) for span in spans)
    described = bytes_field(1, _attributes(1, resource))
    return bytes_field(1, described + bytes_field(2, scope + encoded))


def _span(span: TraceSpan) -> bytes:
    parts = [
        _ids(span.context),
        bytes_field(4, bytes.fromhex(span.parent_id)),
        text_field(5, span.name),
        number_field(6, span.kind),
        fixed64_field(7, span.started_ns),
        fixed64_field(8, span.ended_ns),
        _attributes(9, span.attributes),
    ]
    parts += (bytes_field(13, _ids(link)) for link in span.links)
    if span.error is not None:
        parts.append(bytes_field(15, text_field(2, span.error) + number_field(3, _ERROR)))
    return b"".join(parts)


def _ids(context: TraceContext) -> bytes:
    """The first fields of a span, and of a link."""
    ids = bytes_field(1, bytes.fromhex(context.trace_id))
    ids += bytes_field(2, bytes.fromhex(context.span_id))
    return ids + text_field(3, context.state) if context.state else ids


def _attributes(number: int, attributes: Mapping[str, str | int]) -> bytes:
    return b"".join(
        bytes_field(number, text_field(1, name) + bytes_field(2, _value(value)))
        for name, value in attributes.items()
    )


def _value(value: str | int) -> bytes:
    if isinstance(value, str):
        return text_field(1, value)
    return number_field(3, value & _SIXTY_FOUR_BITS)
