"""Lives of a controller, each ended by a power loss somewhere, and what must hold after each.

A controller is asked for operations by chance, several at a time. After a crash the next one has to
find the state after all operations up to some point: every answered one is among them, each is
there as a whole, and none is there without those before it.
"""

import asyncio
from contextlib import suppress

from ottla.controller.controller import Controller
from ottla.controller.metadata_log import METADATA_PARTITION
from ottla.controller.operation import Context, Operation, OperationOutcome
from ottla.controller.operations.allocate_producer_ids import allocate_producer_ids
from ottla.controller.operations.alter_configs import incremental_alter_configs
from ottla.controller.operations.create_partitions import create_partitions
from ottla.controller.operations.create_topics import create_topics
from ottla.controller.operations.delete_topics import delete_topics
from ottla.controller.operations.heartbeat import heartbeat
from ottla.metadata import MetadataImage
from ottla.model import KafkaError
from ottla.simulation.disk.disk_faults import PowerLost
from ottla.simulation.seams.dice import SeededDice
from ottla.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.schema import Message
from tests.support.controller.cluster_images import applied
from tests.support.controller.simulated_controllers import DIRECTORY, World, serve_broker
from tests.support.kafka.kafka_acceptance import assert_kafka_accepts

NAMES = [f"topic-{number}" for number in range(6)]


class ControllerHistory:
    """One seed, one history. `run` raises AssertionError where something was lost or made up."""

    def __init__(self, seed: int) -> None:
        self.dice = SeededDice(seed)
        # Little enough between snapshots that most lives take some.
        between = str(self.dice.choice((500, 2000, 10**9)))
        self.world = World(seed, metadata_log_max_record_bytes_between_snapshots=between)
        # What the next controller may find: the state after the last answered operation, and after
        # each one since.
        self.allowed: list[MetadataImage] = []
        self.answered = 0

    def run(self, *, lives: int = 4) -> None:
        for life in range(lives):
            self.world.disk.faults.power_off_after(self.dice.below(120))
            with suppress(PowerLost):
                asyncio.run(self._live(life))
            self.world.disk.crash(self.dice)
        self.world.clock.advance(1.0)
        asyncio.run(self._close())
        directory = f"{DIRECTORY}/{METADATA_PARTITION}"
        assert_kafka_accepts(self.world.disk, directory, metadata=True)

    async def _open(self) -> Controller:
        controller = await self.world.open()
        image = controller.quorum.metadata.image
        if self.allowed:
            assert image in self.allowed, "the controller found what never was"
        self.allowed = [image.copy()]
        return controller

    async def _close(self) -> None:
        controller = await self._open()
        await controller.quorum.close()

    async def _live(self, life: int) -> None:
        controller = await self._open()
        with suppress(KafkaError):
            epoch = await self._serve(controller, life)
            for _ in range(self.dice.below(12)):
                count = self.dice.between(low=1, high=4)
                requests = [self._request(controller, epoch) for _ in range(count)]
                await asyncio.gather(*(self._submit(controller, *each) for each in requests))
                assert controller.quorum.metadata.image == self.allowed[0]
            if self.dice.chance(0.5):
                await controller.quorum.close()
        # What stops a controller here is power and nothing else.
        failure = controller.quorum.failure
        assert failure is None or isinstance(failure, PowerLost | RuntimeError)

    async def _serve(self, controller: Controller, life: int) -> int:
        """Registering is played outside of the record; what it leads to is where this begins."""
        self.allowed = []
        epoch = await serve_broker(controller, incarnation=life)
        self.allowed = [controller.quorum.metadata.image.copy()]
        return epoch

    async def _submit(
        self, controller: Controller, operation: Operation[Message, Message], request: Message
    ) -> None:
        index = None

        def noted(
            image: MetadataImage, request: Message, context: Context
        ) -> OperationOutcome[Message]:
            nonlocal index
            outcome = operation(image, request, context)
            assert image == self.allowed[-1], "operations see all that were submitted before"
            self.allowed.append(applied(image, outcome.records))
            index = self.answered + len(self.allowed) - 1
            return outcome

        await controller.submit(noted, request)
        assert index is not None
        if index > self.answered:
            del self.allowed[: index - self.answered]
            self.answered = index

    def _request(
        self, controller: Controller, epoch: int
    ) -> tuple[Operation[Message, Message], Message]:
        dice = self.dice
        name = dice.choice(NAMES)
        configs = [AlterableConfig(name="segment.ms", value=str(dice.between(low=1, high=9)))]
        choices: list[tuple[object, Message]] = [
            (
                create_topics,
                CreateTopicsRequest(
                    topics=[
                        CreatableTopic(
                            name=name,
                            num_partitions=dice.between(low=1, high=5),
                            replication_factor=1,
                        )
                    ]
                ),
            ),
            (delete_topics, DeleteTopicsRequest(topic_names=[name, dice.choice(NAMES)])),
            (
                create_partitions,
                CreatePartitionsRequest(
                    topics=[CreatePartitionsTopic(name=name, count=8, assignments=None)]
                ),
            ),
            (
                incremental_alter_configs,
                IncrementalAlterConfigsRequest(
                    resources=[
                        AlterConfigsResource(resource_type=2, resource_name=name, configs=configs)
                    ]
                ),
            ),
            (allocate_producer_ids, AllocateProducerIdsRequest(broker_id=1, broker_epoch=epoch)),
            (
                heartbeat,
                BrokerHeartbeatRequest(
                    broker_id=1,
                    broker_epoch=epoch,
                    current_metadata_offset=controller.quorum.metadata.end_offset,
                    want_fence=dice.chance(0.3),
                ),
            ),
        ]
        operation, request = dice.choice(choices)
        assert callable(operation)
        return operation, request
