from __future__ import annotations

import pytest

from ottla.cli.start.workers.plan import plan_workers
from ottla.configs import InvalidConfigError, NodeConfig

ALONE = {"listeners": "PLAINTEXT://127.0.0.1:9092", "log.dirs": "/data/a,/data/b"}
MEMBER = {
    "process.roles": "broker,controller",
    "node.id": "3",
    "listeners": "CLIENTS://:9092,CONTROLLER://:9093",
    "advertised.listeners": "CLIENTS://broker.example:9092,CONTROLLER://broker.example:9093",
    "inter.broker.listener.name": "CLIENTS",
    "listener.security.protocol.map": "CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.bootstrap.servers": "broker.example:9093",
    "log.dirs": "/data",
    "metadata.log.dir": "/metadata",
}


def test_workers_are_apart_in_ids_ports_and_directories() -> None:
    first, second = map(NodeConfig.of, plan_workers(MEMBER, 2))
    assert (first.node_id, second.node_id) == (3, 1003)
    assert [listener.port for listener in first.listeners.broker] == [9092]
    assert [listener.port for listener in second.listeners.broker] == [9192]
    assert [listener.port for listener in second.listeners.advertised] == [9192]
    assert (first.log_dirs, second.log_dirs) == (("/data/worker-0",), ("/data/worker-1",))
    assert second.metadata_log_dir == "/metadata/worker-1"


def test_only_the_first_worker_is_a_controller() -> None:
    first, *others = map(NodeConfig.of, plan_workers(MEMBER, 3))
    assert first.is_controller
    assert [listener.port for listener in first.listeners.advertised_controller] == [9093]
    assert not any(each.is_controller or each.listeners.controller for each in others)


def test_workers_of_a_host_share_its_rack() -> None:
    assert {each["broker.rack"] for each in plan_workers(MEMBER, 3, host="alpha")} == {"alpha"}
    racked = {**MEMBER, "broker.rack": "east"}
    assert {each["broker.rack"] for each in plan_workers(racked, 2, host="alpha")} == {"east"}


def test_a_node_that_stands_alone_gets_a_controller_listener_for_its_workers() -> None:
    first, second = map(NodeConfig.of, plan_workers(ALONE, 2))
    assert [listener.port for listener in first.listeners.controller] == [9093]
    assert second.layers.static["controller.quorum.bootstrap.servers"] == "127.0.0.1:9093"
    assert first.log_dirs == ("/data/a/worker-0", "/data/b/worker-0")


def test_each_worker_serves_its_own_metrics_on_loopback() -> None:
    plans = plan_workers({**MEMBER, "ottla.metrics.listener": "10.0.0.1:9400"}, 2)
    listeners = [NodeConfig.of(plan).metrics_listener for plan in plans]
    assert listeners == [("127.0.0.1", 9500), ("127.0.0.1", 9600)]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"process.roles": "controller", "listeners": "CONTROLLER://:9093"}, "is for brokers"),
        ({"listeners": "CLIENTS://:0,CONTROLLER://:9093"}, "port 0"),
        ({"listeners": "CLIENTS://:9092,CONTROLLER://:9192"}, "both listen on port 9192"),
        ({"ottla.metrics.listener": "0"}, "has port 0"),
        ({"ottla.metrics.listener": "9092"}, "both listen on port 9192"),
        ({"listeners": "CLIENTS://:65500,CONTROLLER://:9093"}, "ports end at 65535"),
    ],
)
def test_properties_that_workers_cannot_share_are_refused(
    changed: dict[str, str], message: str
) -> None:
    properties = {**MEMBER, **changed}
    del properties["advertised.listeners"]
    if "CLIENTS" not in properties["listeners"]:
        del properties["inter.broker.listener.name"]
    with pytest.raises(InvalidConfigError, match=message):
        plan_workers(properties, 2)
