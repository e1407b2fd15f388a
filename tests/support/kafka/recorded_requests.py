"""Requests that real clients sent, for tests to send again; fixtures/record_requests.py made them.

They name topics by the ids that these had then, so a test says which id a topic has now.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ottla.model import ZERO_UUID, Uuid
from ottla.wire.apis import ApiKey
from ottla.wire.messages.fetch import FetchRequest
from ottla.wire.messages.produce import ProduceRequest
from ottla.wire.requests import decode_request_head, decode_response
from ottla.wire.schema import Message
from tests.support.nodes.client_stream import split_frames

_FOLDER = Path(__file__).parents[2] / "fixtures" / "requests"
CLIENTS = tuple(sorted(path.stem for path in _FOLDER.glob("*.bin")))
# Every client wrote to a topic of its own.
TOPICS = tuple(f"orders-{name}" for name in ("aiokafka", "confluent", "java", "kafka-python"))
PARTITIONS = 2


@cache
def recorded_requests(client: str, *, topic_id: Uuid = ZERO_UUID) -> tuple[bytes, ...]:
    """The frames that a client sent, without their sizes, in the order of its connections."""
    frames = list(split_frames((_FOLDER / f"{client}.bin").read_bytes()))
    for then in {found for frame in frames for found in _topic_ids(frame)}:
        frames = [frame.replace(then, topic_id) for frame in frames]
    return tuple(frames)


def _topic_ids(frame: bytes) -> list[Uuid]:
    key, version, _, _, position = decode_request_head(frame)
    found: list[Uuid] = []
    if key == ApiKey.PRODUCE:
        produce, _ = ProduceRequest.decode_from(frame, version, position)
        found = [topic.topic_id for topic in produce.topic_data]
    elif key == ApiKey.FETCH:
        fetch, _ = FetchRequest.decode_from(frame, version, position)
        found = [topic.topic_id for topic in fetch.topics]
    return [each for each in found if each != ZERO_UUID]


def answers_to(frames: tuple[bytes, ...], answers: list[bytes]) -> list[Message]:
    """The responses, which have to be those to these requests, in their order."""
    assert len(answers) == len(frames)
    responses = []
    for frame, answer in zip(frames, answers, strict=True):
        head = decode_request_head(frame)
        header, response = decode_response(answer, head.api_key, head.api_version)
        assert header.correlation_id == head.correlation_id
        responses.append(response)
    return responses
