"""Attacks the node on a port of this host: python -m tests.hostile PORT --frames N --seconds S.

Sends frames at a steady rate, and between them every other attack in turn. Prints as JSON how often
each was made.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from random import Random  # noqa: TID251 - the seed is the test's input

from tests.hostile.attacks import (
    Address,
    Attack,
    IdleConnections,
    announce_large_frame,
    create_topics,
    join_groups,
    open_fetch_sessions,
    send_bomb,
    send_frame,
    subscribe_by_costly_expression,
)
from tests.hostile.frames import hostile_frames

_SENDERS = 3
_PAUSE_SECONDS = 0.2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--frames", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    chosen = parser.parse_args()
    address = ("127.0.0.1", chosen.port)
    create_topics(address)
    idle = IdleConnections()
    share = -(-chosen.frames // _SENDERS)
    over = threading.Event()
    made: Counter[str] = Counter()
    with ThreadPoolExecutor(_SENDERS + 1) as threads:
        senders = [
            threads.submit(
                _send_frames, address, Random(chosen.seed + number), share, chosen.seconds
            )
            for number in range(_SENDERS)
        ]
        others = threads.submit(_make_other_attacks, address, Random(chosen.seed), made, idle, over)
        try:
            made["frames"] = sum(sender.result() for sender in senders)
        finally:
            over.set()
        others.result()
    idle.close()
    print(json.dumps(made))


def _send_frames(address: Address, random: Random, count: int, seconds: float) -> int:
    """Spreads its frames over the given time, and takes longer where the node does."""
    started = time.perf_counter()
    frames = hostile_frames(random)
    for number in range(count):
        send_frame(address, next(frames))
        early = started + seconds * number / count - time.perf_counter()
        if early > 0:
            time.sleep(early)
    return count


def _make_other_attacks(
    address: Address,
    random: Random,
    made: Counter[str],
    idle: IdleConnections,
    over: threading.Event,
) -> None:
    attacks: list[tuple[str, Attack]] = [
        ("announced lengths", announce_large_frame),
        ("bombs", send_bomb),
        ("expressions", subscribe_by_costly_expression),
        ("fetch sessions", open_fetch_sessions),
        ("groups", join_groups),
        ("idle connections", idle.open_more),
    ]
    while not over.is_set():
        for name, attack in attacks:
            attack(address, random)
            made[name] += 1
            over.wait(_PAUSE_SECONDS)


if __name__ == "__main__":
    main()
