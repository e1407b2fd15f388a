"""Records about the whole cluster: features and producer ids."""

from __future__ import annotations

from ottla.metadata.delta import MetadataDelta
from ottla.metadata.errors import MetadataError
from ottla.metadata.features import METADATA_VERSION, SUPPORTED_FEATURES
from ottla.metadata.image import MetadataImage
from ottla.metadata.replay.registry import applies
from ottla.wire.stored.cluster_metadata.features import FeatureLevelRecord, ZkMigrationStateRecord
from ottla.wire.stored.cluster_metadata.producer_ids import ProducerIdsRecord
from ottla.wire.stored.cluster_metadata.transactions import NoOpRecord


@applies(FeatureLevelRecord)
def apply_feature_level(
    image: MetadataImage, record: FeatureLevelRecord, delta: MetadataDelta
) -> None:
    supported = SUPPORTED_FEATURES[METADATA_VERSION]
    if record.name == METADATA_VERSION and record.feature_level not in supported:
        raise MetadataError(
            f"the cluster has {METADATA_VERSION} {record.feature_level} but this version of Ottla "
            f"supports {supported}; run the version of Ottla or Kafka that wrote it"
        )
    delta.features_changed.setdefault(record.name, image.features.get(record.name))
    if record.feature_level == 0:
        image.features.pop(record.name, None)
    else:
        image.features[record.name] = record.feature_level


@applies(ProducerIdsRecord)
def apply_producer_ids(
    image: MetadataImage, record: ProducerIdsRecord, delta: MetadataDelta
) -> None:
    if record.next_producer_id <= image.next_producer_id:
        raise MetadataError(
            f"producer ids below {image.next_producer_id} are taken; "
            f"a record says that {record.next_producer_id} is the next one"
        )
    image.next_producer_id = record.next_producer_id
    delta.producer_ids_changed = True


@applies(NoOpRecord)
def apply_nothing(_image: MetadataImage, _record: NoOpRecord, _delta: MetadataDelta) -> None:
    """Advances the log without a change."""


@applies(ZkMigrationStateRecord)
def apply_migration_state(
    _image: MetadataImage, record: ZkMigrationStateRecord, _delta: MetadataDelta
) -> None:
    """Kafka 4 has no ZooKeeper: old logs have the state "no migration" or "migration completed"."""
    if record.zk_migration_state not in (0, 3):
        raise MetadataError(
            "a migration from ZooKeeper is under way in this cluster; "
            "finish it with Apache Kafka 3.9 first"
        )
