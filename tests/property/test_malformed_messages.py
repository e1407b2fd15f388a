"""Bytes from outside are a message or a ProtocolError, and cost memory by what arrived."""

import struct
import tracemalloc
from collections.abc import Iterator
from random import Random  # noqa: TID251 - the seed is the test's input
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.wire.errors import ProtocolError
from ottla.wire.schema import Message
from ottla.wire.schema.fields import fields_of
from ottla.wire.schema.types import Array, Nested
from tests.support.kafka.declared_messages import declared_messages
from tests.support.kafka.protocol_values import Values

NAMES = sorted(declared_messages())
LONG = 200
BILLIONS = 2**31 - 1
# A claim of two billion elements or bytes, in both forms that lengths have.
CLAIMS = (struct.pack(">i", BILLIONS), b"\xff\xff\xff\xff\x07")
# What the exception itself takes, and what an honest small message would.
ALLOCATED_BYTES_MAX = 16_384
# An empty struct of two bytes on the wire is an object with empty lists here.
ALLOCATED_PER_BYTE_MAX = 80


def decode_or_refuse(cls: type[Message], data: bytes, version: int) -> Message | None:
    """Anything but a ProtocolError fails the test."""
    try:
        message, end = cls.decode_from(memoryview(data), version)
    except ProtocolError:
        return None
    assert end <= len(data)
    return message


def mutations(data: bytes, random: Random) -> Iterator[bytes]:
    for _ in range(4):
        yield data[: random.randrange(len(data) + 1)]
        position = random.randrange(len(data) + 1)
        flipped = bytearray(data + b"\0")
        flipped[position] ^= 1 << random.randrange(8)
        yield bytes(flipped)
        claim = random.choice((*CLAIMS, b"\xff\xff\xff\xff", b"\xff\xff\xff\xff\x0f"))
        yield data[:position] + claim + data[position + len(claim) :]
        yield data[:position] + random.randbytes(8) + data[position:]
    yield random.randbytes(random.randrange(200))


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_mutated_bytes_are_a_message_or_refused(name: str, seed: int) -> None:
    cls, random = declared_messages()[name], Random(seed)
    for version in cls.versions:
        valid = Values(seed, unknown_tags=True).message(cls, version).encode(version)
        for data in mutations(valid, random):
            message = decode_or_refuse(cls, data, version)
            if message is not None:
                again = message.encode(version)
                assert cls.decode(again, version).encode(version) == again


@pytest.mark.parametrize("name", NAMES)
def test_message_that_is_cut_short_is_refused(name: str) -> None:
    cls = declared_messages()[name]
    for version in cls.versions:
        valid = Values(5, small=True).message(cls, version).encode(version)
        for size in range(len(valid)):
            assert decode_or_refuse(cls, valid[:size], version) is None


@pytest.mark.parametrize("name", NAMES)
def test_unknown_version_is_refused(name: str) -> None:
    cls = declared_messages()[name]
    for version in (cls.versions.lowest - 1, cls.versions.highest + 1, 32767, -32768):
        with pytest.raises(ProtocolError, match=f"{cls.__name__} has no version {version}"):
            cls.decode(bytes(100), version)
        with pytest.raises(ProtocolError, match=f"{cls.__name__} has no version {version}"):
            cls().encode(version)


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


def allocated(cls: type[Message], data: bytes, version: int) -> int:
    """How many bytes decoding held at its peak."""
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    decode_or_refuse(cls, data, version)
    _, peak = tracemalloc.get_traced_memory()
    return peak - before


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("name", NAMES)
def test_claim_of_billions_allocates_next_to_nothing(name: str) -> None:
    """Wherever a length stands, it is among the places where the claim is put."""
    cls = declared_messages()[name]
    for version in {cls.versions.lowest, cls.versions.highest}:
        valid = Values(3, small=True).message(cls, version).encode(version)
        decode_or_refuse(cls, valid, version)
        for position in range(len(valid)):
            for claim in CLAIMS:
                data = valid[:position] + claim + valid[position + len(claim) :]
                assert allocated(cls, data, version) < ALLOCATED_BYTES_MAX


def long_arrays(cls: Any, version: int) -> Iterator[Any]:
    """The struct with one of its arrays, at any depth, full of elements that hold nothing."""
    for field in fields_of(cls):
        if version not in field.options.versions:
            continue
        kind = field.type
        if isinstance(kind, Array) and isinstance(kind.element, Nested):
            yield cls(**{field.name: [kind.element.struct() for _ in range(LONG)]})
            for inner in long_arrays(kind.element.struct, version):
                yield cls(**{field.name: [inner]})
        elif isinstance(kind, Nested):
            for inner in long_arrays(kind.struct, version):
                yield cls(**{field.name: inner})


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_empty_elements_allocate_in_proportion(name: str) -> None:
    cls = declared_messages()[name]
    for version in {cls.versions.lowest, cls.versions.highest}:
        for message in long_arrays(cls, version):
            data = message.encode(version)
            cls.decode(data, version)
            assert allocated(cls, data, version) < ALLOCATED_PER_BYTE_MAX * len(data)
