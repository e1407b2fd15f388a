from __future__ import annotations

import pytest

from ottla.broker.handlers.find_coordinator import CoordinatorType
from ottla.model import ErrorCode
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.one_node import OneNode


@pytest.mark.parametrize("version", range(4))
def test_there_is_no_coordinator_for_one_key(node: OneNode, version: int) -> None:
    response = node.ask(FindCoordinatorRequest(key="group"), version)

    assert response.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert (response.node_id, response.host, response.port) == (-1, "", -1)
    if version >= 1:
        assert "consumer groups" in response.error_message


@pytest.mark.parametrize("version", [4, 5, 6])
def test_there_is_no_coordinator_for_any_of_many_keys(node: OneNode, version: int) -> None:
    request = FindCoordinatorRequest(
        key_type=CoordinatorType.TRANSACTION, coordinator_keys=["one", "two"]
    )

    one, two = node.ask(request, version).coordinators

    assert (one.key, two.key) == ("one", "two")
    assert {one.error_code, two.error_code} == {ErrorCode.COORDINATOR_NOT_AVAILABLE}
    assert "transactional" in one.error_message
    assert one.node_id == -1


def test_types_of_keys_that_a_version_does_not_have_are_refused(node: OneNode) -> None:
    def error(key_type: int, version: int) -> int:
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["key"])
        code: int = node.ask(request, version).coordinators[0].error_code
        return code

    assert error(CoordinatorType.SHARE, 5) == ErrorCode.INVALID_REQUEST
    assert error(CoordinatorType.SHARE, 6) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert error(3, 6) == ErrorCode.INVALID_REQUEST
