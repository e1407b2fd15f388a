"""Gateways in front of Ottla and of Apache Kafka."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from ottla.testing import Cluster
from tests.support.kafka.kafka_broker import Broker, kafka_broker
from tests.support.web.brokers import BROKERS
from tests.support.web.gateway_process import GatewayProcess, running_gateway_process

# A group does not wait for more members, and notices a gateway that was killed soon.
_SETTINGS = {"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000"}
_numbers = count()


@pytest.fixture(scope="package", params=BROKERS)
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    is_ours = request.param == "ottla"
    with Cluster(properties=_SETTINGS) if is_ours else kafka_broker(_SETTINGS) as broker:
        yield broker


@pytest.fixture(scope="package")
def gateway(broker: Broker) -> Iterator[GatewayProcess]:
    with running_gateway_process(broker.bootstrap) as gateway:
        yield gateway


@pytest.fixture
def topic(broker: Broker) -> str:
    name = f"topic-{next(_numbers)}"
    broker.create_topic(name, partitions=3)
    return name


@pytest.fixture
def group() -> str:
    return f"group-{next(_numbers)}"
