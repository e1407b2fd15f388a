"""UpdateFeatures: levels that go up, and down where nothing is lost."""

import pytest

from ottla.controller.operations.update_features import UpgradeType, update_features
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode
from ottla.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from tests.support.controller.cluster_images import (
    applied,
    broker,
    context,
    features,
    image_of,
    node_config,
)


def cluster(metadata_version: int = 30, *, elr: int = 1) -> MetadataImage:
    levels = features(metadata_version=metadata_version, eligible_leader_replicas_version=elr)
    return image_of(levels, broker(1))


def update(name: str, level: int, kind: int = UpgradeType.UPGRADE) -> FeatureUpdateKey:
    return FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)


def submit(
    image: MetadataImage, *updates: FeatureUpdateKey, validate_only: bool = False
) -> tuple[list[Message], ErrorCode, str]:
    request = UpdateFeaturesRequest(feature_updates=list(updates), validate_only=validate_only)
    node = node_config(min_insync_replicas="2")
    records, response = update_features(image, request, context(node))
    return records, ErrorCode(response.error_code), response.error_message or ""


def test_levels_go_up() -> None:
    image = cluster(29)
    records, code, _ = submit(image, update("metadata.version", 30), update("group.version", 1))
    assert code is ErrorCode.NONE
    assert applied(image, records).metadata_version == 30


def test_level_zero_switches_a_feature_off() -> None:
    records, code, _ = submit(cluster(), update("share.version", 0, UpgradeType.SAFE_DOWNGRADE))
    assert code is ErrorCode.NONE
    assert "share.version" not in applied(cluster(), records).features


def test_version_0_says_downgrade_in_its_own_way() -> None:
    requested = FeatureUpdateKey(feature="share.version", max_version_level=0, allow_downgrade=True)
    assert submit(cluster(), requested)[1] is ErrorCode.NONE


def test_metadata_version_goes_down_as_long_as_no_record_says_more() -> None:
    image = cluster(29)
    downgrade = update("metadata.version", 23, UpgradeType.SAFE_DOWNGRADE)
    records, code, _ = submit(image, downgrade)
    assert code is ErrorCode.NONE
    assert applied(image, records).metadata_version == 23


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        (update("metadata.version", 31), "only supports versions 7-30"),
        (update("metadata.version", 6), "only supports versions 7-30"),
        (update("group.version", -1), "cannot be less than 0"),
        (update("no.such.version", 1), "does not support this feature"),
        (update("share.version", 0), "Can't downgrade the version of this feature without"),
        (update("share.version", 1, 9), "does not support the given upgrade type"),
        (update("kraft.version", 0, UpgradeType.SAFE_DOWNGRADE), "Can't downgrade the version"),
        (
            update("metadata.version", 29, UpgradeType.SAFE_DOWNGRADE),
            "downgrade from 4.3-IV0 to 4.2-IV1. Refusing to perform",
        ),
        (
            update("metadata.version", 29, UpgradeType.UNSAFE_DOWNGRADE),
            "Unsafe metadata downgrade is not supported",
        ),
    ],
)
def test_updates_that_cannot_be(requested: FeatureUpdateKey, message: str) -> None:
    records, code, reason = submit(cluster(), requested)
    assert not records
    assert code is ErrorCode.INVALID_UPDATE_VERSION
    assert message in reason


def test_downgrade_does_not_go_up() -> None:
    requested = update("eligible.leader.replicas.version", 1, UpgradeType.SAFE_DOWNGRADE)
    assert "Can't downgrade to a newer version." in submit(cluster(elr=0), requested)[2]


def test_every_node_has_to_support_the_level() -> None:
    old = broker(2)
    for feature in old.features:
        feature.max_supported_version = min(feature.max_supported_version, 29)
    image = image_of(features(metadata_version=29), broker(1), old)
    _, code, reason = submit(image, update("metadata.version", 30))
    assert code is ErrorCode.INVALID_UPDATE_VERSION
    assert "Broker 2 only supports versions 7-29" in reason


def test_level_needs_the_levels_it_depends_on() -> None:
    requested = update("eligible.leader.replicas.version", 1)
    _, code, reason = submit(cluster(22, elr=0), requested)
    assert code is ErrorCode.INVALID_UPDATE_VERSION
    assert "depends on metadata.version level 23" in reason
    _, code, _ = submit(cluster(22, elr=0), requested, update("metadata.version", 23))
    assert code is ErrorCode.NONE


def test_eligible_leader_replicas_bring_one_minimum_for_the_cluster() -> None:
    own = ConfigRecord(resource_type=4, resource_name="1", name="min.insync.replicas", value="3")
    image = applied(cluster(elr=0), [own])
    records, _, _ = submit(image, update("eligible.leader.replicas.version", 1))
    after = applied(image, records)
    assert after.has_eligible_leader_replicas
    assert after.cluster_configs == {"min.insync.replicas": "2"}
    assert after.broker_configs(1) == {}


def test_one_refusal_refuses_all() -> None:
    records, code, _ = submit(
        cluster(29), update("metadata.version", 30), update("group.version", 2)
    )
    assert not records
    assert code is ErrorCode.INVALID_UPDATE_VERSION


def test_feature_named_twice_is_refused() -> None:
    _, code, _ = submit(cluster(29), update("metadata.version", 30), update("metadata.version", 30))
    assert code is ErrorCode.INVALID_REQUEST


def test_validating_only_writes_nothing() -> None:
    records, code, _ = submit(cluster(29), update("metadata.version", 30), validate_only=True)
    assert not records
    assert code is ErrorCode.NONE
