"""A pytest plugin for confluent-kafka-python's tests: with a cluster of one's own, their fixture
has no asynchronous client of the registry, so it gets one here."""

from __future__ import annotations

import os
from typing import Any

from tests.integration import cluster_fixture  # type: ignore[attr-defined]


def async_schema_registry(_self: Any, conf: Any = None) -> Any:
    from confluent_kafka.schema_registry import AsyncSchemaRegistryClient

    return AsyncSchemaRegistryClient({"url": os.environ["SR_URL"], **(conf or {})})


cluster_fixture.ByoFixture.async_schema_registry = async_schema_registry
