"""Images of small clusters, and what operations on them need to know."""

from collections.abc import Iterable

from ottla.configs import NodeConfig
from ottla.controller.operation import Context
from ottla.controller.topic_descriptions import TopicDescriptions
from ottla.metadata import SUPPORTED_FEATURES, MetadataDelta, MetadataImage, MetadataReplay
from ottla.metadata.broker import feature_structs
from ottla.metadata.features import INITIAL_LEVELS
from ottla.model import Uuid
from ottla.model.ids import TimestampMs
from ottla.security.acls.rights import UNRESTRICTED, Rights
from ottla.simulation.seams.dice import SeededDice
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.brokers import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from ottla.wire.stored.cluster_metadata.features import FeatureLevelRecord
from ottla.wire.stored.cluster_metadata.topics import PartitionRecord, TopicRecord

CLUSTER_ID = "ottlaOttlaOttlaOttlaOw"
NOW_MS = 1_700_000_000_000


def uuid(number: int) -> Uuid:
    """An id that a person recognizes; those below 100 mean something to Kafka."""
    return Uuid((1000 + number).to_bytes(16))


def features(**levels: int) -> list[Message]:
    """The records of a new cluster's features; `group_version=0` sets group.version to 0."""
    wanted = INITIAL_LEVELS | {name.replace("_", "."): level for name, level in levels.items()}
    return [FeatureLevelRecord(name=name, feature_level=level) for name, level in wanted.items()]


def broker(
    broker_id: int,
    *,
    epoch: int = 100,
    fenced: bool = False,
    rack: str | None = None,
    in_controlled_shutdown: bool = False,
    log_dirs: Iterable[Uuid] | None = None,
) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=broker_id,
        broker_epoch=epoch,
        incarnation_id=uuid(broker_id),
        end_points=[BrokerEndpoint(name="PLAINTEXT", host="localhost", port=9092)],
        features=feature_structs(BrokerFeature, SUPPORTED_FEATURES),
        rack=rack,
        fenced=fenced,
        in_controlled_shutdown=in_controlled_shutdown,
        log_dirs=list(log_dirs) if log_dirs is not None else [uuid(500 + broker_id)],
    )


def topic(
    name: str,
    *partitions: list[int],
    topic_id: Uuid | None = None,
    isr: list[int] | None = None,
    elr: list[int] | None = None,
    last_known_elr: list[int] | None = None,
    leader: int | None = None,
) -> list[Message]:
    """A topic, with the replicas of each of its partitions."""
    topic_id = topic_id or Uuid(name.encode().ljust(16, b".")[:16])
    records: list[Message] = [TopicRecord(name=name, topic_id=topic_id)]
    for partition_id, replicas in enumerate(partitions):
        in_sync = replicas if isr is None else isr
        records.append(
            PartitionRecord(
                partition_id=partition_id,
                topic_id=topic_id,
                replicas=replicas,
                isr=in_sync,
                leader=leader if leader is not None else in_sync[0],
                leader_epoch=0,
                partition_epoch=0,
                directories=[uuid(500 + replica) for replica in replicas],
                eligible_leader_replicas=elr,
                last_known_elr=last_known_elr,
            )
        )
    return records


def image_of(*records: Message | list[Message]) -> MetadataImage:
    replay = MetadataReplay(MetadataImage())
    for each in records:
        replay.take(each if isinstance(each, list) else [each], MetadataDelta())
    return replay.image


def one_broker(*records: Message | list[Message]) -> MetadataImage:
    """A cluster of broker 1, and whatever else."""
    return image_of(features(), broker(1), *records)


def applied(image: MetadataImage, records: list[Message]) -> MetadataImage:
    """The image after the records; the given one stays."""
    replay = MetadataReplay(image.copy())
    replay.take(records, MetadataDelta())
    return replay.image


def node_config(**properties: str) -> NodeConfig:
    """Of node 1; `num_partitions="3"` is num.partitions=3."""
    named = {name.replace("_", "."): value for name, value in properties.items()}
    return NodeConfig.of(named, data_dir="/data", listen="localhost:9092")


def context(
    node: NodeConfig | None = None,
    *,
    next_offset: int = 200,
    seed: int = 1,
    now_ms: int = NOW_MS,
    rights: Rights = UNRESTRICTED,
) -> Context:
    node = node or node_config()
    return Context(
        cluster_id=CLUSTER_ID,
        node=node,
        descriptions=TopicDescriptions(node),
        dice=SeededDice(seed),
        next_offset=next_offset,
        now_ms=TimestampMs(now_ms),
        rights=rights,
    )
