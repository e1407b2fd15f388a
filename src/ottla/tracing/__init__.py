"""Traces at the edges of a cluster: programs that serve HTTP, clients and pipelines.

trace_context.py   which trace a request or a message belongs to (W3C Trace Context)
span.py            one step of a trace
tracer.py          starts and ends spans, and keeps those that are not exported yet
span_encoding.py   spans as the messages of OTLP
span_export.py     sends them to a collector

Nodes have no spans: a message carries its context in its headers, which nodes do not read.
"""

from ottla.tracing.span import Attributes, SpanKind, TraceSpan
from ottla.tracing.span_export import SpanExport
from ottla.tracing.trace_context import TRACE_PARENT, TRACE_STATE, TraceContext
from ottla.tracing.tracer import Tracer

__all__ = [
    "TRACE_PARENT",
    "TRACE_STATE",
    "Attributes",
    "SpanExport",
    "SpanKind",
    "TraceContext",
    "TraceSpan",
    "Tracer",
]
