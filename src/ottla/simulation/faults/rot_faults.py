"""Faults that corrupt data: bit rot on the disk, and reads that return wrong data."""

from __future__ import annotations

from typing import Final

from ottla.simulation.disk.disk_faults import Corruption
from ottla.simulation.faults.trouble import Trouble, start_again
from ottla.simulation.world.node import DATA_DIRECTORY, SimulatedNode
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import crc_matches, iterate_batches
from ottla.wire.records.header import ATTRIBUTES_AT, read_header

_CORRUPT_PROBABILITY: Final = 0.5
_SPARE_SECONDS_MAX: Final = 10.0


async def rot(trouble: Trouble) -> None:
    """Flips a bit in a replica's log, deletes the replica later and lets it replicate again.

    The node is down when the bit is flipped, and the replica is out of the ISR then and when it is
    deleted. Meanwhile it may return to the ISR: nothing needs to read the damaged batch.
    """
    node = trouble.node
    if not node.is_running or not await _end_out_of_sync(trouble, node):
        start_again(node)
        return
    path = _log_to_rot(trouble, node)
    if path is None:
        start_again(node)
        return
    position, bit = _place_to_rot(trouble, node, path), trouble.dice.below(8)
    trouble.say(node.name, f"has a flipped bit at {position} of {path}")
    node.disk.flip_bit(path, position=position, bit=bit)
    node.rotten_logs.add(path)
    # Later data may be truncated meanwhile.
    rotten = node.disk.content(path)[: position + 1]
    is_replaced = False
    try:
        await trouble.wait()
        start_again(node)
        await trouble.wait()
        if await _end_out_of_sync(trouble, node):
            _see_to_disk(node)
            _take_away(node, path.rpartition("/")[0])
            is_replaced = True
    finally:
        node.rotten_logs.discard(path)
        if not is_replaced:
            node.kill()
            _see_to_disk(node)
            if node.disk.exists(path) and node.disk.content(path).startswith(rotten):
                # The replica could not be deleted: flip the bit back.
                node.disk.flip_bit(path, position=position, bit=bit)
    start_again(node)


async def _end_out_of_sync(trouble: Trouble, node: SimulatedNode) -> bool:
    """Whether the node was killed while the other in-sync replicas have all committed records.
    Other faults may start it meanwhile.
    """
    node.kill()
    try:
        await trouble.wait_until(lambda: _is_spare(trouble, node), seconds=_SPARE_SECONDS_MAX)
    except TimeoutError:
        return False
    node.kill()
    return True


async def corrupt_reads(trouble: Trouble) -> None:
    """Corrupts some of the data that a node reads from its disk to send, for SECONDS.

    A bit is flipped, or the data is from another place in the file.
    """
    trouble.say(trouble.node.name, "sometimes sends corrupt data")
    corruption = Corruption(trouble.dice, _CORRUPT_PROBABILITY, _begins_no_batch)
    trouble.node.disk.faults.corrupt_sent(corruption)
    await trouble.wait()
    trouble.node.disk.faults.corrupt_sent(None)
    trouble.say(trouble.node.name, "sends correct data again")


def _begins_no_batch(data: bytes) -> bool:
    try:
        header = read_header(data)
        return not crc_matches(data, 0, header)
    except ProtocolError:
        return True


def _log_to_rot(trouble: Trouble, node: SimulatedNode) -> str | None:
    """A log of the replica without a flipped bit: with two of them, neither fault would recognise
    its own, and flip it back.
    """
    directory = f"{DATA_DIRECTORY}/{trouble.partition}"
    if not node.disk.is_directory(directory):
        return None
    logs = [
        path
        for name in node.disk.list_directory(directory)
        if name.endswith(".log") and _is_durable(node, path := f"{directory}/{name}")
        if path not in node.rotten_logs
    ]
    return trouble.dice.choice(logs) if logs else None


def _is_durable(node: SimulatedNode, path: str) -> bool:
    """Whether a log is not empty and completely durable."""
    size = node.disk.durable_size(path)
    return size > 0 and size == node.disk.file_size(path)


def _place_to_rot(trouble: Trouble, node: SimulatedNode, path: str) -> int:
    """A byte of a batch that its checksum covers: damage to the base offset cannot be detected."""
    content = memoryview(node.disk.content(path))[: node.disk.durable_size(path)]
    position, header = trouble.dice.choice(list(iterate_batches(content)))
    return position + trouble.dice.between(low=ATTRIBUTES_AT, high=header.size_in_bytes - 1)


def _is_spare(trouble: Trouble, node: SimulatedNode) -> bool:
    """Whether the node is out of the ISR and at least two others are in it, so that it cannot be
    elected even if one of them fails.
    """
    leader = trouble.cluster.leader_of(*trouble.partition)
    if leader is None or leader is node or not leader.is_serving:
        return False
    led = trouble.cluster.replica_of(leader, trouble.partition)
    return led is not None and led.log is not None and node.id not in led.isr and len(led.isr) > 1


def _see_to_disk(node: SimulatedNode) -> None:
    """Ends the disk's other faults, which would prevent replacing the damaged replica."""
    node.disk.faults.heal("/")
    node.disk.faults.power_on()


def _take_away(node: SimulatedNode, directory: str) -> None:
    for name in node.disk.list_directory(directory):
        node.disk.remove(f"{directory}/{name}")
    node.disk.remove_directory(directory)
    node.disk.sync_directory(DATA_DIRECTORY)
