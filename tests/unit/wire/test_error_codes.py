"""The error codes of a response, wherever they are in it."""

from __future__ import annotations

import pytest

from ottla.wire.apis import LISTENERS, response_class
from ottla.wire.messages.delete_acls import DeleteAclsFilterResult, DeleteAclsResponse
from ottla.wire.messages.describe_quorum import (
    DescribeQuorumResponse,
    DescribeQuorumResponsePartitionData,
    DescribeQuorumResponseTopicData,
)
from ottla.wire.messages.fetch import FetchResponse
from ottla.wire.messages.offset_fetch import OffsetFetchResponse
from ottla.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from ottla.wire.schema.error_codes import error_codes_of


@pytest.mark.parametrize("key", LISTENERS)
def test_every_response_without_errors_has_no_error_codes(key: int) -> None:
    response = response_class(key)
    made = response()
    if hasattr(made, "error_code"):
        made.error_code = 0
    assert error_codes_of(response)(made) == ()


def test_the_codes_of_all_parts_are_found_in_their_order() -> None:
    response = ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=name,
                partition_responses=[
                    PartitionProduceResponse(index=index, error_code=code)
                    for index, code in enumerate(codes)
                ],
            )
            for name, codes in (("a", (0, 6)), ("b", (87,)), ("c", ()))
        ]
    )
    assert error_codes_of(ProduceResponse)(response) == (6, 87)
    assert error_codes_of(FetchResponse)(FetchResponse(error_code=70)) == (70,)


def test_the_codes_of_the_whole_response_and_of_its_parts_are_found() -> None:
    partition = DescribeQuorumResponsePartitionData(error_code=41)
    quorum = DescribeQuorumResponse(
        error_code=3, topics=[DescribeQuorumResponseTopicData(partitions=[partition])]
    )
    assert error_codes_of(DescribeQuorumResponse)(quorum) == (3, 41)
    acls = DeleteAclsResponse(filter_results=[DeleteAclsFilterResult(error_code=31)])
    assert error_codes_of(DeleteAclsResponse)(acls) == (31,)


def test_a_missing_list_has_no_codes() -> None:
    response = OffsetFetchResponse(error_code=16)
    response.topics = None  # type: ignore[assignment]
    assert error_codes_of(OffsetFetchResponse)(response) == (16,)
