"""A quorum of one: it leads at once, and what it leaves on disk says so."""

import asyncio

import pytest

from ottla.controller.controller import Controller
from ottla.controller.metadata_log import METADATA_PARTITION
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.files.durable_file import read_file
from tests.support.controller.simulated_controllers import DIRECTORY, World

PATH = f"{DIRECTORY}/{METADATA_PARTITION}"


async def close(controller: Controller) -> int:
    """Ends it, and returns its epoch."""
    await controller.quorum.close()
    return controller.quorum.leader_and_epoch.epoch


async def record_names(controller: Controller) -> list[list[str]]:
    """Of each control batch in the log."""
    return [
        [type(record).__name__ for record in batch.records]
        for batch in controller.quorum.log.read_from(0)
        if batch.header.is_control
    ]


def test_leader_begins_a_higher_epoch_each_time_and_says_so() -> None:
    world = World()

    async def lead(controller: Controller) -> None:
        quorum = controller.quorum
        assert quorum.is_leader
        assert quorum.is_active
        assert quorum.leader_and_epoch == (1, epoch)
        assert quorum.metadata.end_offset == quorum.log.committed_offset
        assert quorum.log.committed_offset == quorum.log.log_end_offset
        await quorum.close()

    for epoch in (1, 2, 3):
        world.run(lead)
        assert read_file(world.disk, f"{PATH}/quorum-state") == (
            b'{"leaderId":1,"leaderEpoch":%d,"votedId":-1,'
            b'"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}' % epoch
        )


def test_epoch_is_remembered_without_the_quorum_state() -> None:
    world = World()
    world.run(close)
    world.run(close)
    world.disk.remove(f"{PATH}/quorum-state")
    assert world.run(close) == 3


def test_quorum_state_that_does_not_parse_is_not_guessed() -> None:
    world = World()
    world.run(close)
    file = world.disk.open(f"{PATH}/quorum-state")
    file.write_at(0, [b"x"])
    with pytest.raises(CorruptCheckpointError, match="quorum-state is corrupt"):
        asyncio.run(world.open())


def test_first_leader_writes_who_votes_into_the_log() -> None:
    world = World()
    opening = ["LeaderChangeMessage"]
    with_voters = [*opening, "KRaftVersionRecord", "VotersRecord"]
    assert world.run(record_names) == [with_voters]
    assert world.run(record_names) == [with_voters, opening]


def test_voters_are_in_snapshots_as_well() -> None:
    world = World(metadata_log_max_record_bytes_between_snapshots="10")
    voters = world.run(voters_of)
    assert voters == world.run(voters_of) == world.run(voters_of)
    snapshots = [name for name in world.disk.list_directory(PATH) if name.endswith(".checkpoint")]
    assert "00000000000000000000-0000000000.checkpoint" not in snapshots


async def voters_of(controller: Controller) -> list[tuple[int, str]]:
    voters = controller.quorum.voters.voters
    assert controller.quorum.kraft_version == 1
    await controller.quorum.close()
    return [(voter.key.id, voter.endpoints[0].host) for voter in voters]
