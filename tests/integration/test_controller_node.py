"""A node that is a controller and no broker."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ottla.broker.host_seams import HostSeams
from ottla.broker.node import Node
from ottla.configs import ConfigResourceType, NodeConfig
from ottla.controller.formatting import format_node, initial_voter, new_cluster_id
from ottla.controller.operations.alter_configs import incremental_alter_configs
from ottla.model import NodeId
from ottla.raft.voters import VoterEndpoint, VoterSet
from ottla.runtime.background import InlineBackground
from ottla.runtime.dice import SystemDice
from ottla.runtime.free_ports import free_ports
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from ottla.runtime.system_network import SystemNetwork
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

HOST = "127.0.0.1"


def controller_node(directory: Path) -> Node:
    dice = SystemDice()
    (port,) = free_ports(dice, HOST, count=1)
    voter = initial_voter(1, dice.uuid(), VoterEndpoint("CONTROLLER", HOST, port))
    format_node(
        SystemDisk(),
        [str(directory)],
        metadata_path=str(directory),
        cluster_id=new_cluster_id(dice),
        node_id=NodeId(1),
        voters=VoterSet.of([voter]),
        dice=dice,
        now_ms=0,
    )
    config = NodeConfig.of(
        {
            "process.roles": "controller",
            "node.id": "1",
            "listeners": f"CONTROLLER://{HOST}:{port}",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.bootstrap.servers": f"{HOST}:{port}",
            "log.dirs": str(directory),
        },
        data_dir=None,
        listen=None,
    )
    return Node(config, world())


def world() -> HostSeams:
    return HostSeams(SystemDisk(), SystemClock(), SystemDice(), SystemNetwork(), InlineBackground())


def cluster_config(name: str, value: str) -> IncrementalAlterConfigsRequest:
    resource = AlterConfigsResource(
        resource_type=ConfigResourceType.BROKER,
        resource_name="",
        configs=[AlterableConfig(name=name, config_operation=0, value=value)],
    )
    return IncrementalAlterConfigsRequest(resources=[resource])


def test_dynamic_configs_are_followed_at_once_and_after_a_restart(tmp_path: Path) -> None:
    async def scenario() -> None:
        node = controller_node(tmp_path)
        await node.start()
        while not node.broker.service.controller.is_active:
            await SystemClock().sleep(0.01)
        request = cluster_config("max.connections", "321")
        response = await node.broker.service.controller.submit(incremental_alter_configs, request)
        assert response.responses[0].error_code == 0
        await node.broker.replicas.wait_applied()
        assert node.broker.config.max_connections == 321
        await node.stop()

        again = Node(node.config, world())
        await again.start()
        while not again.broker.service.controller.is_active:
            await SystemClock().sleep(0.01)
        await again.broker.replicas.wait_applied()
        assert again.broker.config.max_connections == 321
        await again.stop()

    asyncio.run(asyncio.wait_for(scenario(), 30))


def test_an_abandoned_node_leaves_its_directory_to_the_next(tmp_path: Path) -> None:
    async def scenario() -> None:
        failures: list[str] = []
        node = controller_node(tmp_path)
        await node.start()
        for _, listener in node._listeners:
            listener.close()
        await node.abandon()
        again = Node(node.config, world(), on_failed=lambda: failures.append("failed"))
        await again.start()
        assert again.failure is None
        assert not failures
        await again.stop()

    asyncio.run(asyncio.wait_for(scenario(), 30))
