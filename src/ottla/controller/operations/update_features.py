"""UpdateFeatures, versions 0 to 2: changes finalized levels (KIP-584, KIP-778, KIP-1022).

INVALID_UPDATE_VERSION for a level that a node does not support or that cannot be reached from the
current one, INVALID_REQUEST for a duplicate feature. One invalid update rejects the whole request.
"""

from __future__ import annotations

from enum import IntEnum

from ottla.configs import BROKERS_DEFAULT, ConfigResourceType
from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.config_records import MIN_INSYNC_REPLICAS
from ottla.metadata import SUPPORTED_FEATURES, MetadataImage, VersionRange
from ottla.metadata.features import (
    DEPENDENCIES,
    ELIGIBLE_LEADER_REPLICAS_VERSION,
    KRAFT_VERSION,
    KRAFT_VERSION_LEVEL,
    METADATA_CHANGING_LEVELS,
    METADATA_VERSION,
    METADATA_VERSION_NAMES,
)
from ottla.model import ErrorCode, KafkaError
from ottla.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from ottla.wire.stored.cluster_metadata.features import FeatureLevelRecord

_UNKNOWN_LEVELS = VersionRange(0, 0)


class UpgradeType(IntEnum):
    UNKNOWN = 0
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


def update_features(
    image: MetadataImage, request: UpdateFeaturesRequest, context: Context
) -> OperationOutcome[UpdateFeaturesResponse]:
    updates = request.feature_updates
    proposed = image.features | {update.feature: update.max_version_level for update in updates}
    records: list[Message] = []
    try:
        if len({update.feature for update in updates}) < len(updates):
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Each feature must appear at most once.")
        for update in updates:
            _check(image, update, proposed, context.node.node_id)
            if update.feature != KRAFT_VERSION:
                level = update.max_version_level
                records.append(FeatureLevelRecord(name=update.feature, feature_level=level))
    except KafkaError as error:
        return OperationOutcome([], _refusal(error))
    records += _eligible_leader_replicas_records(image, proposed, context)
    results = [UpdatableFeatureResult(feature=each.feature, error_message=None) for each in updates]
    return OperationOutcome(
        [] if request.validate_only else records,
        UpdateFeaturesResponse(error_message=None, results=results),
    )


def _refusal(error: KafkaError) -> UpdateFeaturesResponse:
    return UpdateFeaturesResponse(
        error_code=error.code,
        error_message="The update failed for all features since the following feature had an "
        f"error: {error.message}",
    )


def _check(
    image: MetadataImage, update: FeatureUpdateKey, proposed: dict[str, int], node_id: int
) -> None:
    name, level = update.feature, update.max_version_level
    upgrade_type = _upgrade_type(update)
    current = KRAFT_VERSION_LEVEL if name == KRAFT_VERSION else image.features.get(name, 0)
    if upgrade_type is UpgradeType.UNKNOWN:
        raise _invalid(update, "The controller does not support the given upgrade type.")
    if level < 0:
        raise _invalid(update, "A feature version cannot be less than 0.")
    _check_supported(image, update, node_id)
    if level < current and upgrade_type is UpgradeType.UPGRADE:
        raise _invalid(
            update,
            "Can't downgrade the version of this feature without setting the upgrade type to "
            "either safe or unsafe downgrade.",
        )
    if level > current and upgrade_type is not UpgradeType.UPGRADE:
        raise _invalid(update, "Can't downgrade to a newer version.")
    if name == METADATA_VERSION:
        _check_metadata_downgrade(current, level, upgrade_type)
    elif name == KRAFT_VERSION and level != current:
        raise _invalid(update, "Can't downgrade the version of this feature.")
    for other, least in DEPENDENCIES.get((name, level), {}).items():
        if proposed.get(other, 0) < least:
            raise _invalid(
                update,
                f"{name} could not be set to {level} because it depends on {other} level {least}",
            )


def _upgrade_type(update: FeatureUpdateKey) -> UpgradeType:
    if update.allow_downgrade:  # Version 0.
        return UpgradeType.SAFE_DOWNGRADE
    known = update.upgrade_type in UpgradeType.__members__.values()
    return UpgradeType(update.upgrade_type) if known else UpgradeType.UNKNOWN


def _check_supported(image: MetadataImage, update: FeatureUpdateKey, node_id: int) -> None:
    name = update.feature
    supported = {f"Local controller {node_id}": SUPPORTED_FEATURES.get(name, _UNKNOWN_LEVELS)}
    for broker in image.brokers.values():
        supported[f"Broker {broker.id}"] = broker.features.get(name, _UNKNOWN_LEVELS)
    for controller in image.controllers.values():
        if controller.id != node_id:
            found = controller.features.get(name, _UNKNOWN_LEVELS)
            supported[f"Controller {controller.id}"] = found
    for who, levels in supported.items():
        if update.max_version_level not in levels:
            if levels.max_supported_version == 0:
                raise _invalid(update, f"{who} does not support this feature.")
            raise _invalid(update, f"{who} only supports versions {levels}")


def _check_metadata_downgrade(current: int, level: int, upgrade_type: UpgradeType) -> None:
    """A downgrade is allowed only if it loses no metadata: no level between the two changed the
    records."""
    if not any(level < changing <= current for changing in METADATA_CHANGING_LEVELS):
        return
    reason = (
        "Unsafe metadata downgrade is not supported in this version."
        if upgrade_type is UpgradeType.UNSAFE_DOWNGRADE
        else "Refusing to perform the requested downgrade because it might delete metadata "
        "information."
    )
    names = METADATA_VERSION_NAMES
    raise KafkaError(
        ErrorCode.INVALID_UPDATE_VERSION,
        f"Unsupported {METADATA_VERSION} downgrade from {names[current]} to {names[level]}. "
        f"{reason}",
    )


def _eligible_leader_replicas_records(
    image: MetadataImage, proposed: dict[str, int], context: Context
) -> list[Message]:
    """Enabling them needs a single min.insync.replicas for the cluster (KIP-966)."""
    is_proposed = proposed.get(ELIGIBLE_LEADER_REPLICAS_VERSION, 0) > 0
    if not is_proposed or image.has_eligible_leader_replicas:
        return []
    records: list[Message] = []
    if MIN_INSYNC_REPLICAS not in image.cluster_configs:
        records.append(
            ConfigRecord(
                resource_type=BROKERS_DEFAULT.type,
                resource_name=BROKERS_DEFAULT.name,
                name=MIN_INSYNC_REPLICAS,
                value=str(context.node.min_insync_replicas),
            )
        )
    for resource, configs in image.configs.items():
        is_broker = resource.type is ConfigResourceType.BROKER and resource.name
        if is_broker and MIN_INSYNC_REPLICAS in configs:
            records.append(
                ConfigRecord(
                    resource_type=resource.type,
                    resource_name=resource.name,
                    name=MIN_INSYNC_REPLICAS,
                    value=None,
                )
            )
    return records


def _invalid(update: FeatureUpdateKey, reason: str) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_UPDATE_VERSION,
        f"Invalid update version {update.max_version_level} for feature {update.feature}. {reason}",
    )
