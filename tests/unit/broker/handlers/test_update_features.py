from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from ottla.simulation import Operation
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.support.nodes.one_node import OneNode

SAFE_DOWNGRADE = 2


def update(name: str, level: int, *, upgrade_type: int = 1) -> UpdateFeaturesRequest:
    key = FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=upgrade_type)
    return UpdateFeaturesRequest(feature_updates=[key])


def finalized(node: OneNode) -> tuple[int, dict[str, int]]:
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    response = node.send_request(request, 4)
    levels = {each.name: each.max_version_level for each in response.finalized_features}
    return response.finalized_features_epoch, levels


@pytest.mark.parametrize("version", [1, 2])
def test_a_level_that_is_lowered_is_advertised(node: OneNode, version: int) -> None:
    epoch, levels = finalized(node)
    assert levels["transaction.version"] == 2
    assert levels["kraft.version"] == 1

    request = update("transaction.version", 1, upgrade_type=SAFE_DOWNGRADE)
    assert node.send_request(request, version).error_code == ErrorCode.NONE

    later, levels = finalized(node)
    assert levels["transaction.version"] == 1
    assert later > epoch


def test_a_level_that_is_not_supported_is_refused_with_a_reason(node: OneNode) -> None:
    response = node.send_request(update("transaction.version", 9), 2)

    assert response.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert "transaction.version" in response.error_message


def test_a_controller_that_cannot_write_changes_nothing(node: OneNode) -> None:
    node.disk.faults.fail("/data/__cluster_metadata-0", Operation.WRITE)
    request = update("transaction.version", 1, upgrade_type=SAFE_DOWNGRADE)

    assert node.send_request(request, 2).error_code == ErrorCode.KAFKA_STORAGE_ERROR
