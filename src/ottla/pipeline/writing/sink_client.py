"""The client of a sink, by the sink's options."""

from __future__ import annotations

from typing import Any, Final

from ottla.client.two_phase.two_phase_client import TwoPhaseClient
from ottla.client_security.node_channel import channel_security
from ottla.pipeline.writing.options import SinkOptions
from ottla.wire.records.compression import Codec

_REQUEST_TIMEOUT_MS: Final = 30_000


def sink_client(options: SinkOptions) -> TwoPhaseClient:
    """Use it within `async with`."""
    timeout_ms = options.delivery_timeout_ms
    properties: dict[str, Any] = {
        "bootstrap.servers": [str(address) for address in options.bootstrap],
        "security": channel_security(options.security),
        "client.id": options.client_id,
        "compression.type": options.codec.name.lower(),
        "batch.size": options.batch_bytes_max,
        # A batch may have one record of the largest size.
        "max.request.size": max(options.record_bytes_max, options.batch_bytes_max) + (1 << 20),
        "delivery.timeout.ms": timeout_ms,
        "request.timeout.ms": min(_REQUEST_TIMEOUT_MS, timeout_ms),
        "max.block.ms": timeout_ms,
        "linger.ms": 0,
        "transaction.timeout.ms": options.transaction_timeout_ms,
    }
    if options.compression_level is not None and options.codec not in (Codec.NONE, Codec.SNAPPY):
        properties[f"compression.{options.codec.name.lower()}.level"] = options.compression_level
    return TwoPhaseClient(properties, journal_topic=options.journal_topic)
