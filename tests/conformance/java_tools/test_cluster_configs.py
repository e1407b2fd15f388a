"""kafka-configs: what is set through one node counts on all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from ottla.model import ErrorCode
from tests.conformance.clients import Message, RefusedError
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.java_tools.cluster import ClusterTools
from tests.support.nodes.cluster_processes import wait_until

pytestmark = pytest.mark.java

CONFIGS = "kafka-configs"
EVERYONE = (1, 2, 3)


def configs(output: str) -> dict[str, str]:
    """What is set, by name; the first line says of what."""
    texts = (line.split()[0].partition("=") for line in output.splitlines()[1:])
    return {name: value for name, _, value in texts}


def wait_configs(
    tools: ClusterTools, options: Sequence[str], wanted: Mapping[str, str], *, via: int
) -> None:
    wait_until(
        lambda: configs(tools(CONFIGS, "--describe", *options, via=via)) == wanted,
        f"node {via} shows {wanted} for {options}",
    )


def test_a_topics_configs_are_the_same_on_all_nodes(tools: ClusterTools) -> None:
    tools.create("configured", [[1, 2, 3]])
    wanted = {
        "leader.replication.throttled.replicas": "0:1,0:2",
        "follower.replication.throttled.replicas": "*",
        "min.insync.replicas": "3",
        "unclean.leader.election.enable": "true",
    }
    added = (
        "leader.replication.throttled.replicas=[0:1,0:2],follower.replication.throttled.replicas=*,"
        "min.insync.replicas=3,unclean.leader.election.enable=true"
    )
    where = ("--topic", "configured")
    tools(CONFIGS, "--alter", *where, "--add-config", added, via=2)
    for via in EVERYONE:
        wait_configs(tools, where, wanted, via=via)
    assert [each.isr for each in tools.describe("--at-min-isr-partitions", *where)] == [EVERYONE]
    tools(CONFIGS, "--alter", *where, "--delete-config", ",".join(wanted), via=3)
    wait_configs(tools, where, {}, via=1)


def test_writes_are_refused_below_min_insync_replicas(tools: ClusterTools) -> None:
    tools.create("strict", [[1, 2, 3]])
    client = ConfluentClient(tools.cluster.bootstrap)
    client.produce("strict", [Message(b"enough")])
    where = ("--topic", "strict")
    with tools.without(tools.cluster.nodes[3]):
        tools.wait_isr("strict", (1, 2))
        client.produce("strict", [Message(b"still enough")])
        tools(CONFIGS, "--alter", *where, "--add-config", "min.insync.replicas=3", via=2)
        wait_until(
            lambda: bool(tools.describe("--under-min-isr-partitions", *where)),
            "more replicas are wanted",
        )
        with pytest.raises(RefusedError) as refused:
            client.produce("strict", [Message(b"too few")], retries=0)
        assert refused.value.code == ErrorCode.NOT_ENOUGH_REPLICAS
        client.produce("strict", [Message(b"not asked of all")], acks="1")
        tools(CONFIGS, "--alter", *where, "--delete-config", "min.insync.replicas", via=1)
        tools.wait_isr("strict", (1, 2))
        client.produce("strict", [Message(b"enough again")])
    read = tools.consume("strict", 4, via=3)
    assert read == ["enough", "still enough", "not asked of all", "enough again"]


def test_brokers_are_configured_through_each_other(tools: ClusterTools) -> None:
    rates = "leader.replication.throttled.rate=1000000,follower.replication.throttled.rate=2000000"
    tools(CONFIGS, "--alter", "--broker", "2", "--add-config", rates, via=1)
    wanted = dict(each.split("=") for each in rates.split(","))
    wait_configs(tools, ("--broker", "2"), wanted, via=3)
    assert not configs(tools(CONFIGS, "--describe", "--broker", "3", via=2))
    names = "leader.replication.throttled.rate,follower.replication.throttled.rate"
    tools(CONFIGS, "--alter", "--broker", "2", "--delete-config", names, via=3)
    wait_configs(tools, ("--broker", "2"), {}, via=1)


def test_a_broker_judges_its_own_configs(tools: ClusterTools) -> None:
    """From 10 threads to 20 to 40 is allowed, for each step is at most the double."""
    for threads in ("20", "40"):
        added = ("--add-config", f"background.threads={threads}")
        tools(CONFIGS, "--alter", "--broker", "2", *added)
        wait_configs(tools, ("--broker", "2"), {"background.threads": threads}, via=3)
    for via in EVERYONE:
        added = ("--add-config", "background.threads=10")
        ran = tools.run(CONFIGS, "--alter", "--broker", "2", *added, via=via)
        assert ran.status == 1
        assert "background.threads" in ran.stderr
    tools(CONFIGS, "--alter", "--broker", "2", "--add-config", "background.threads=20")
    tools(CONFIGS, "--alter", "--broker", "2", "--delete-config", "background.threads")
    wait_configs(tools, ("--broker", "2"), {}, via=1)


def test_defaults_of_all_brokers_count_on_each(tools: ClusterTools) -> None:
    everyone = ("--entity-type", "brokers", "--entity-default")
    defaults = configs(tools(CONFIGS, "--describe", *everyone))
    tools(CONFIGS, "--alter", *everyone, "--add-config", "log.retention.ms=7777777", via=2)
    wait_configs(tools, everyone, {**defaults, "log.retention.ms": "7777777"}, via=3)

    def all_have_it() -> bool:
        shown = [
            configs(tools(CONFIGS, "--describe", "--broker", str(broker), "--all"))
            for broker in EVERYONE
        ]
        return all(each["log.retention.ms"] == "7777777" for each in shown)

    wait_until(all_have_it, "all brokers have the default")
    tools(CONFIGS, "--alter", *everyone, "--delete-config", "log.retention.ms", via=3)


def test_controllers_show_and_alter_configs(tools: ClusterTools) -> None:
    broker = ("--entity-type", "brokers", "--entity-name", "2")
    for via in EVERYONE:
        added = ("--add-config", f"background.threads={8 + via}")
        tools.at_controller(CONFIGS, "--alter", *broker, *added, via=via)
        wait_configs(tools, broker, {"background.threads": str(8 + via)}, via=via)
        output = tools.at_controller(CONFIGS, "--describe", *broker, via=via)
        assert configs(output) == {"background.threads": str(8 + via)}
    gone = ("--delete-config", "background.threads")
    tools.at_controller(CONFIGS, "--alter", *broker, *gone, via=3)
    wait_configs(tools, broker, {}, via=1)


def test_a_groups_configs_are_the_same_on_all_nodes(tools: ClusterTools) -> None:
    group = ("--entity-type", "groups", "--entity-name", "billing")
    session = "consumer.session.timeout.ms"
    added = f"{session}=50000,consumer.heartbeat.interval.ms=6000"
    tools(CONFIGS, "--alter", *group, "--add-config", added, via=2)
    wanted = {session: "50000", "consumer.heartbeat.interval.ms": "6000"}
    for via in EVERYONE:
        wait_configs(tools, group, wanted, via=via)
    every = configs(tools(CONFIGS, "--describe", *group, "--all"))
    assert every["share.session.timeout.ms"] == "45000"
    assert "billing" in tools(CONFIGS, "--describe", "--entity-type", "groups", via=3)
    ran = tools.run(CONFIGS, "--alter", *group, "--add-config", f"{session}=1")
    assert ran.status == 1
    assert "group.consumer.min.session.timeout.ms" in ran.stderr
    tools(CONFIGS, "--alter", *group, "--delete-config", ",".join(wanted), via=1)
    wait_configs(tools, group, {}, via=3)


def test_loggers_of_one_node_change_their_levels(tools: ClusterTools) -> None:
    loggers = ("--entity-type", "broker-loggers", "--entity-name")
    tools(CONFIGS, "--alter", *loggers, "2", "--add-config", "root=ERROR", via=1)
    assert "root=ERROR" in tools(CONFIGS, "--describe", *loggers, "2", via=3)
    assert "root=ERROR" not in tools(CONFIGS, "--describe", *loggers, "3", via=2)
    tools.at_controller(CONFIGS, "--alter", *loggers, "2", "--add-config", "root=WARN", via=1)
    assert "root=WARN" in tools.at_controller(CONFIGS, "--describe", *loggers, "2", via=3)
