"""The brokers that gateways are tested with."""

from __future__ import annotations

import pytest

from tests.conformance.kafka.process import reason_unavailable as no_kafka
from tests.support.soak import IS_SOAK

_KAFKA = pytest.param("kafka", marks=pytest.mark.skipif(bool(no_kafka()), reason="needs its jars"))
BROKERS = ["ottla", _KAFKA]
# With Apache Kafka only in a soak test: what these test is the gateway's own work.
OURS = pytest.mark.parametrize(
    "broker", BROKERS if IS_SOAK else ["ottla"], indirect=True, scope="package"
)
