"""Requests and responses with their headers, as they travel."""

import struct
from collections.abc import Sequence

import pytest

from ottla.model import Part
from ottla.wire.apis import ApiKey
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from ottla.wire.requests import (
    decode_request,
    decode_request_head,
    decode_response,
    encode_request,
    encode_response,
)


def frame(parts: Sequence[Part]) -> bytes:
    data = b"".join(part for part in parts if isinstance(part, bytes | bytearray | memoryview))
    assert struct.unpack_from(">i", data) == (len(data) - 4,)
    return data[4:]


@pytest.mark.parametrize("version", [3, 8, 9, 12])
def test_request_comes_back_with_its_header(version: int) -> None:
    request = ProduceRequest(
        acks=-1,
        topic_data=[
            TopicProduceData(name="t", partition_data=[PartitionProduceData(records=b"batch")])
        ],
    )
    data = frame(encode_request(request, version, correlation_id=7, client_id="me"))
    header, decoded = decode_request(data)
    assert (header.api_key, header.api_version) == (ApiKey.PRODUCE, version)
    assert (header.correlation_id, header.client_id) == (7, "me")
    assert decoded == request


@pytest.mark.parametrize("version", [3, 9])
def test_response_comes_back_with_its_header(version: int) -> None:
    response = ProduceResponse(throttle_time_ms=3)
    data = frame(encode_response(response, version, correlation_id=-8))
    header, decoded = decode_response(data, ApiKey.PRODUCE, version)
    assert (header.correlation_id, decoded) == (-8, response)


def test_records_travel_uncopied() -> None:
    records = memoryview(b"batch")
    request = ProduceRequest(
        topic_data=[TopicProduceData(partition_data=[PartitionProduceData(records=records)])]
    )
    parts = encode_request(request, 9, correlation_id=0, client_id=None)
    assert any(part is records for part in parts)


def test_header_of_an_unknown_version_is_read() -> None:
    data = bytes.fromhex("0012 0063 00000005 0002 6d65 00") + b"whatever follows"
    head = decode_request_head(data)
    assert (head.api_version, head.client_id) == (99, "me")
    assert data[head.size :] == b"whatever follows"
    with pytest.raises(ProtocolError, match="ApiVersionsRequest has no version 99"):
        decode_request(data)


def test_missing_client_id_is_empty() -> None:
    data = frame(encode_request(ApiVersionsRequest(), 0, correlation_id=1, client_id=None))
    assert data == bytes.fromhex("0012 0000 00000001 ffff")
    assert decode_request_head(data).client_id == ""


def test_api_versions_is_answered_with_the_oldest_header() -> None:
    data = frame(encode_response(ApiVersionsResponse(error_code=35), 3, correlation_id=1))
    assert data.startswith(bytes.fromhex("00000001 0023"))


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "a request of 0 bytes ends within its header"),
        (b"\x00\x12\x00", "a request of 3 bytes ends within its header"),
        (bytes.fromhex("0012 0000 00000001 0005 6d65"), "12 bytes ends within its header"),
        (bytes.fromhex("0012 0003 00000001 0002 6d65"), "12 bytes ends within its header"),
        (bytes.fromhex("0012 0000 00000001 0002 ffff"), "malformed client id"),
        (b"\x00\x5d\x00\x00" + bytes(20), "no messages for API key 93"),
        (b"\x00\x12\x00\x00" + bytes(20), "14 bytes follow the ApiVersionsRequest version 0"),
    ],
)
def test_bad_request_is_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(ProtocolError, match=complaint):
        decode_request(data)


def test_bad_response_is_refused() -> None:
    with pytest.raises(ProtocolError, match="ResponseHeader version 1 is cut short"):
        decode_response(b"\x00", ApiKey.PRODUCE, 9)
    data = frame(encode_response(ProduceResponse(), 9, correlation_id=1))
    with pytest.raises(ProtocolError, match="1 bytes follow the ProduceResponse"):
        decode_response(data + b"!", ApiKey.PRODUCE, 9)
