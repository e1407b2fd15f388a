"""Histories of three replicas that crash, lose power and each other, and what must hold.

- What was answered is there in the end, and what was never asked for is not.
- Replicas that have applied as much show the same, however they came by it.
- The changes that a listener gets lead from the image that it had before to its current one.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from ottla.controller.controller import Controller
from ottla.controller.metadata_log import MetadataLogConfig
from ottla.controller.operations.create_topics import create_topics
from ottla.controller.operations.delete_topics import delete_topics
from ottla.metadata import MetadataDelta, MetadataImage
from ottla.model import KafkaError
from ottla.simulation import SeededDice
from ottla.simulation.disk.disk_faults import PowerLost
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest
from tests.support.controller.metadata_deltas import assert_leads
from tests.support.controller.simulated_controllers import serve_broker
from tests.support.raft.quorums import Replica, SimulatedQuorum

NODES = (1, 2, 3)


class QuorumHistory:
    """One seed, one history. `run` raises AssertionError where something was lost or made up."""

    def __init__(self, seed: int) -> None:
        self.dice = dice = SeededDice(seed)
        between = dice.choice((600, 2_000, 10**9))
        self.world = SimulatedQuorum(
            *NODES,
            seed=seed,
            log_config=MetadataLogConfig(max_record_bytes_between_snapshots=between),
            fetch_bytes_max=dice.choice((1, 1 << 20)),
            fetch_snapshot_bytes_max=dice.choice((200, 1 << 20)),
        )
        self._topic_count = 0
        self._created: set[str] = set()
        # A client requested their removal, and was answered or not.
        self._unwanted: set[str] = set()
        self._deleted: set[str] = set()
        # The image of the replica that was the first to apply so much of the log.
        self._shown: dict[int, MetadataImage] = {}
        self._operations: list[asyncio.Task[None]] = []

    async def run(self, *, steps: int = 40) -> None:
        for node_id in NODES:
            self._start(node_id)
        world = self.world
        leader = await world.wait_active()
        await world.do(serve_broker(leader.controller))
        for _ in range(steps):
            await self._step()
            await world.pass_time(self.dice.below(300) / 1_000)
            await self._bury_the_dead()
        await self._end()

    async def _end(self) -> None:
        """All replicas are restarted, and all faults end."""
        world = self.world
        world.heal()
        for node_id in NODES:
            world.disks[node_id].faults.power_on()
            if node_id not in world.replicas:
                self._start(node_id)
        await world.wait_caught_up()
        await world.until(lambda: all(each.done() for each in self._operations))
        for each in self._operations:
            each.result()
        await world.wait_caught_up()
        for replica in world.replicas.values():
            assert self._created - self._unwanted <= replica.topics, "what was answered is lost"
            assert not self._deleted & replica.topics, "what was deleted is back"
            assert replica.topics <= {f"topic-{number}" for number in range(self._topic_count)}
            assert not replica.errors, replica.errors
        await world.end()

    # ---- what happens

    async def _step(self) -> None:
        match self.dice.below(12):
            case 0:
                await self._crash(with_power=self.dice.chance(0.5))
            case 1:
                node_id = self.dice.choice(NODES)
                self.world.disks[node_id].faults.power_off_after(self.dice.below(40))
            case 2:
                self.world.isolate(self.dice.choice(NODES))
            case 3:
                self.world.heal()
            case 4 | 5:
                self._start_one()
            case 6 if self._created:
                self._run_on_active(self._delete, self.dice.choice(sorted(self._created)))
            case _:
                for _ in range(self.dice.between(low=1, high=3)):
                    self._run_on_active(self._create, f"topic-{self._topic_count}")
                    self._topic_count += 1

    async def _crash(self, *, with_power: bool) -> None:
        if self.world.replicas:
            node_id = self.dice.choice(sorted(self.world.replicas))
            await self.world.crash(node_id, with_power=with_power)

    async def _bury_the_dead(self) -> None:
        for replica in list(self.world.replicas.values()):
            if replica.has_lost_power:
                await self.world.crash(replica.id, with_power=True)
            failure = replica.quorum.failure
            assert failure is None or isinstance(failure, PowerLost | RuntimeError), failure

    def _start_one(self) -> None:
        down = sorted(set(NODES) - self.world.replicas.keys())
        if down:
            node_id = self.dice.choice(down)
            self.world.disks[node_id].faults.power_on()
            self._start(node_id)

    def _start(self, node_id: int) -> None:
        self.world.start(node_id)
        replica = self.world.replicas[node_id]
        shown = [replica.image.copy()]
        self._check_shown(replica)

        def check(delta: MetadataDelta) -> None:
            assert_leads(shown[0], delta, replica.image)
            shown[0] = replica.image.copy()
            self._check_shown(replica)

        replica.quorum.metadata.listen(check)

    def _check_shown(self, replica: Replica) -> None:
        image, end_offset = replica.image, replica.quorum.metadata.end_offset
        if end_offset in self._shown:
            assert image == self._shown[end_offset], "two replicas show different things"
        else:
            self._shown[end_offset] = image.copy()

    # ---- what is asked

    def _run_on_active(self, operation: object, name: str) -> None:
        active = self.world.active
        if active:
            assert callable(operation)
            controller = self.dice.choice(active).controller
            self._operations.append(asyncio.ensure_future(operation(controller, name)))

    async def _create(self, controller: Controller, name: str) -> None:
        topic = CreatableTopic(name=name, num_partitions=2, replication_factor=1)
        with suppress(KafkaError, PowerLost):
            response = await controller.submit(create_topics, CreateTopicsRequest(topics=[topic]))
            assert response.topics[0].error_code == 0, response
            self._created.add(name)

    async def _delete(self, controller: Controller, name: str) -> None:
        self._unwanted.add(name)
        with suppress(KafkaError, PowerLost):
            await controller.submit(delete_topics, DeleteTopicsRequest(topic_names=[name]))
            # Removed by now, or by a client that got no response.
            self._deleted.add(name)
