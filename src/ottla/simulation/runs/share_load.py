"""The share group of a run: members that accept and release everything that producers send."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from ottla.model import TopicPartition
from ottla.simulation.clients.share_member import (
    DELIVERY_LIMIT,
    ShareProgress,
    SimulatedShareMember,
    is_poison,
)
from ottla.simulation.cluster.cluster import SimulatedCluster
from ottla.simulation.world.host import Host
from ottla.simulation.world.world import World

SHARE_GROUP: Final = "sharers"
SHARE_CONFIGS: Final = {
    "share.auto.offset.reset": "earliest",
    "share.delivery.count.limit": str(DELIVERY_LIMIT),
}


class ShareLoad:
    """Members, each on its own host."""

    def __init__(
        self,
        world: World,
        cluster: SimulatedCluster,
        topic: str,
        written: Mapping[TopicPartition, int],
        host: Callable[[str], Host],
        *,
        members: int,
        is_over: Callable[[], bool],
    ) -> None:
        self._written = written
        self._progress = ShareProgress()
        self._members: Sequence[SimulatedShareMember] = [
            SimulatedShareMember(
                host(f"sharer-{number}"),
                cluster.bootstrap,
                world.record,
                self._progress,
                group=SHARE_GROUP,
                topic=topic,
                is_over=is_over,
            )
            for number in range(1, members + 1)
        ]

    def start(self) -> None:
        for member in self._members:
            member.host.run("share member", member.run())

    def reasons(self) -> Iterator[str]:
        """What the group has not finished yet."""
        for partition, written in self._written.items() if self._members else ():
            done = self._progress.done.get(partition, set())
            left = sum(offset not in done and not is_poison(offset) for offset in range(written))
            if left:
                yield f"{SHARE_GROUP} has not finished {left} of {written} in {partition}"
