"""kafka-leader-election: who leads by preference, and who leads at a loss."""

from __future__ import annotations

import pytest

from tests.conformance.java_tools.cluster import ClusterTools
from tests.support.nodes.cluster_processes import wait_until

pytestmark = pytest.mark.java

ELECT = "kafka-leader-election"
PREFERRED = ("--election-type", "preferred")
UNCLEAN = ("--election-type", "unclean")


def leaders(tools: ClusterTools, topic: str, *, via: int = 1) -> list[int | None]:
    return [each.leader for each in tools.describe("--topic", topic, via=via)]


def test_leadership_goes_back_to_those_who_are_preferred(tools: ClusterTools) -> None:
    tools.create("ordered", [[3, 1, 2], [1, 2, 3], [3, 2, 1]])
    one = ("--topic", "ordered", "--partition", "0")
    with tools.without(tools.cluster.nodes[3]):
        wait_until(lambda: leaders(tools, "ordered") == [1, 1, 2], "others lead")
        refused = tools.run(ELECT, *PREFERRED, *one, via=2)
        assert refused.status == 1
        assert "PreferredLeaderNotAvailableException" in refused.stdout
    assert leaders(tools, "ordered") == [1, 1, 2]

    output = tools(ELECT, *PREFERRED, "--all-topic-partitions", via=2)
    assert "Successfully completed leader election (PREFERRED) for partitions" in output
    assert {"ordered-0", "ordered-2"} <= set(output.replace(",", "").split())
    wait_until(lambda: leaders(tools, "ordered", via=3) == [3, 1, 3], "the preferred lead")
    assert not tools(ELECT, *PREFERRED, "--all-topic-partitions", via=3).strip()
    already = "Valid replica already elected for partitions ordered-0\n"
    assert tools(ELECT, *PREFERRED, *one) == already
    assert tools(ELECT, *UNCLEAN, *one) == already
    unknown = tools.run(ELECT, *PREFERRED, "--topic", "nowhere", "--partition", "0")
    assert unknown.status == 1
    assert "No such topic as nowhere" in unknown.stdout


def test_a_replica_that_lacks_records_leads_only_after_an_unclean_election(
    tools: ClusterTools,
) -> None:
    second, third = tools.cluster.nodes[2], tools.cluster.nodes[3]
    tools.create("risky", [[3, 2]], {"min.insync.replicas": "1"})
    one = ("--topic", "risky", "--partition", "0")
    tools.produce("risky", ["a", "b"])
    with tools.without(second):
        tools.wait_isr("risky", [3])
        tools.produce("risky", ["lost"])
        with tools.without(third):
            tools.start(second)
            wait_until(lambda: leaders(tools, "risky") == [None], "no replica leads")
            (risky,) = tools.describe("--topic", "risky", via=2)
            assert (risky.isr, risky.eligible) == ((), (3,))
            assert tools.run(ELECT, *PREFERRED, *one).status == 1

            output = tools(ELECT, *UNCLEAN, *one, via=2)
            done = "Successfully completed leader election (UNCLEAN) for partitions risky-0\n"
            assert output == done
            wait_until(lambda: leaders(tools, "risky") == [2], "the second leads")
            tools.produce("risky", ["instead"])
    assert tools.consume("risky", 3, via=3) == ["a", "b", "instead"]
