"""A node, a Spark session and topics for them. The tests share one worker, and so one session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient

from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode, running_node
from tests.support.spark.spark import reason_unavailable, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    if reason := reason_unavailable():
        pytest.skip(reason)
    session = spark_session(tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningNode]:
    with running_node(tmp_path_factory.mktemp("node")) as node:
        yield node


@pytest.fixture
def topics(node: RunningNode, request: pytest.FixtureRequest) -> Topics:
    admin = AdminClient({"bootstrap.servers": node.bootstrap, "log_level": 0})
    return Topics(admin, node, request.node.name)
