"""Malformed and mutated requests of every API in every version, chosen by a seed."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import cache
from random import Random  # noqa: TID251 - the seed is the test's input

from ottla.wire.apis import ApiKey
from ottla.wire.requests import encode_request
from ottla.wire.schema import Message
from tests.support.kafka.declared_messages import declared_messages
from tests.support.kafka.protocol_values import Values
from tests.support.kafka.recorded_requests import CLIENTS, recorded_requests

MUTANTS_PER_REQUEST = 16
_BILLIONS = 2**31 - 1
# Lengths in both encodings that are far larger than the frame, or negative.
_LENGTHS = (
    struct.pack(">i", _BILLIONS),
    b"\xff\xff\xff\xff\x07",
    b"\xff" * 4,
    b"\xff" * 4 + b"\x0f",
)
_Mutation = Callable[[bytes, Random], bytes]
_UNREGISTER_BROKER = struct.pack(">h", ApiKey.UNREGISTER_BROKER)
# The node that is attacked, as its id is encoded.
_ITS_ID = struct.pack(">i", 1)


@cache
def request_classes() -> tuple[type[Message], ...]:
    return tuple(
        cls
        for _, cls in sorted(declared_messages().items())
        if cls.api_key is not None and cls.__name__.endswith("Request")
    )


def hostile_frames(random: Random) -> Iterator[bytes]:
    """Frames without their sizes, without end. Each API and version has its turn."""
    while True:
        for cls in request_classes():
            version = random.choice(list(cls.versions))
            yield from _mutants(_valid_frame(cls, version, random), random)
        client = random.choice(CLIENTS)
        yield from _mutants(random.choice(recorded_requests(client)), random)


def _valid_frame(cls: type[Message], version: int, random: Random) -> bytes:
    message = Values(random.getrandbits(32), unknown_tags=True).message(cls, version)
    parts = encode_request(message, version, correlation_id=random.getrandbits(16), client_id="a")
    return b"".join(parts)[4:]


def _mutants(frame: bytes, random: Random) -> Iterator[bytes]:
    for _ in range(MUTANTS_PER_REQUEST):
        mutant = random.choice(_MUTATIONS)(frame, random)
        if random.random() < 0.2:
            mutant = random.choice(_MUTATIONS)(mutant, random)
        if not _unregisters_the_node(mutant):
            yield mutant


def _unregisters_the_node(frame: bytes) -> bool:
    """Whether a frame may be a valid UnregisterBroker for the node. An administrator may send it,
    and a broker that was unregistered leads nothing until it is restarted, as with Apache Kafka."""
    return frame.startswith(_UNREGISTER_BROKER) and _ITS_ID in frame


def _cut(frame: bytes, random: Random) -> bytes:
    return frame[: random.randrange(len(frame) + 1)]


def _flip_bit(frame: bytes, random: Random) -> bytes:
    flipped = bytearray(frame + b"\0")
    flipped[random.randrange(len(flipped))] ^= 1 << random.randrange(8)
    return bytes(flipped)


def _set_byte(frame: bytes, random: Random) -> bytes:
    changed = bytearray(frame + b"\0")
    changed[random.randrange(len(changed))] = random.choice((0, 1, 127, 128, 255))
    return bytes(changed)


def _claim_length(frame: bytes, random: Random) -> bytes:
    position, length = random.randrange(len(frame) + 1), random.choice(_LENGTHS)
    return frame[:position] + length + frame[position + len(length) :]


def _insert(frame: bytes, random: Random) -> bytes:
    position = random.randrange(len(frame) + 1)
    return frame[:position] + random.randbytes(random.randrange(1, 32)) + frame[position:]


def _replace_body(frame: bytes, random: Random) -> bytes:
    """A known API and version before bytes that mean nothing."""
    return frame[:8] + random.randbytes(random.randrange(300))


def _repeat(frame: bytes, random: Random) -> bytes:
    return frame + frame[random.randrange(len(frame) + 1) :]


_MUTATIONS: tuple[_Mutation, ...] = (
    _cut,
    _flip_bit,
    _flip_bit,
    _set_byte,
    _claim_length,
    _insert,
    _replace_body,
    _repeat,
)
