"""The fixtures that Ottla brings to pytest, in a user's own tests."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]
HEADING = """\
import pytest
from confluent_kafka import Producer

"""


def run(pytester: pytest.Pytester, text: str, *, passed: int) -> None:
    pytester.makepyfile(HEADING + text)
    done = pytester.runpytest_subprocess("-q", "--strict-markers", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=passed)


def test_a_marker_says_how_the_cluster_is_made(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
@pytest.mark.ottla(nodes=3, properties={"num.partitions": "5"})
def test_three_nodes(ottla_cluster):
    assert ottla_cluster.running == [1, 2, 3]
    ottla_cluster.create_topic("orders", partitions=2)
    found = Producer({"bootstrap.servers": ottla_cluster.bootstrap}).list_topics(timeout=10)
    assert len(found.brokers) == 3
    assert len(found.topics["orders"].partitions[0].replicas) == 3

@pytest.mark.ottla(properties={"auto.create.topics.enable": "false"})
def test_no_topic_by_itself(ottla_cluster):
    client = Producer({"bootstrap.servers": ottla_cluster.bootstrap})
    assert client.list_topics("orders", timeout=10).topics["orders"].error is not None

def test_one_node(ottla_cluster):
    assert ottla_cluster.running == [1]
""",
        passed=3,
    )


def test_the_session_cluster_is_shared_and_the_other_one_is_not(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
FOUND = []

@pytest.mark.parametrize("number", [1, 2])
def test_clusters(number, ottla_session_cluster, ottla_cluster):
    FOUND.append((ottla_session_cluster.bootstrap, ottla_cluster))

def test_they_were_shared():
    (first, own), (second, other) = FOUND
    assert first == second
    assert own is not other
""",
        passed=3,
    )


def test_a_fixture_of_a_module_makes_its_cluster_with_the_factory(
    pytester: pytest.Pytester,
) -> None:
    run(
        pytester,
        """
@pytest.fixture(scope="module")
def cluster(ottla_cluster_factory):
    return ottla_cluster_factory(properties={"num.partitions": "3"})

def test_it_runs(cluster):
    found = Producer({"bootstrap.servers": cluster.bootstrap}).list_topics("orders", timeout=10)
    assert len(found.topics["orders"].partitions) == 3
""",
        passed=1,
    )
