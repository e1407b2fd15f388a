"""Traces of an application's work with records: they continue in the headers of its messages.

    async with Tracing("http://127.0.0.1:4318", service="billing") as tracing:
        async for record in consumer:
            with tracing.processing(record):
                invoice = make_invoice(record.value)
                with tracing.sending("invoices") as headers:
                    await producer.send_and_wait("invoices", invoice, headers=headers)

The headers are those of W3C's Trace Context, as OpenTelemetry's instrumentation of other clients
writes and reads them. Spans go to a collector with OTLP over HTTP. Without an endpoint nothing is
recorded, and contexts are passed on.
"""

from typing import TYPE_CHECKING

from ottla.exports import lazy_names

if TYPE_CHECKING:
    from ottla.client.tracing.application_traces import Tracing
else:
    __getattr__, __dir__ = lazy_names(
        __name__, {"Tracing": "ottla.client.tracing.application_traces"}
    )

__all__ = ["Tracing"]
