"""`topics:`, each with partitions and replicas, or with an explicit assignment, and configs."""

from __future__ import annotations

from typing import Final

from ottla.cli.cluster_file.config_fields import read_configs
from ottla.cli.cluster_file.desired import DesiredTopic
from ottla.cli.cluster_file.fields import FieldReader
from ottla.cli.cluster_file.yaml_tree import YamlField, YamlTree

PARTITIONS: Final = "partitions"
REPLICATION_FACTOR: Final = "replication_factor"
ASSIGNMENT: Final = "assignment"
CONFIGS: Final = "configs"
_REPLICATION_FACTOR_MAX: Final = 2**15 - 1

Assignment = tuple[tuple[int, ...], ...]


def read_topic(reader: FieldReader, field: YamlField, name: str) -> DesiredTopic:
    what = f"topic {name}"
    known = (PARTITIONS, REPLICATION_FACTOR, ASSIGNMENT, CONFIGS)
    fields = reader.fields(field.value, what, known)
    partitions = factor = None
    if PARTITIONS in fields:
        partitions = reader.number(fields[PARTITIONS].value, f"partitions of {what}", minimum=1)
    if REPLICATION_FACTOR in fields:
        factor = reader.number(
            fields[REPLICATION_FACTOR].value,
            f"replication_factor of {what}",
            minimum=1,
            maximum=_REPLICATION_FACTOR_MAX,
        )
    configs = read_configs(reader, fields[CONFIGS].value, what) if CONFIGS in fields else {}
    assignment = None
    if ASSIGNMENT in fields:
        assignment = _assignment(reader, fields[ASSIGNMENT].value, f"assignment of {what}")
        if REPLICATION_FACTOR in fields:
            reader.add(
                fields[REPLICATION_FACTOR].place,
                f"{what} has an assignment, which has the replicas of each partition; leave "
                "replication_factor out",
            )
        if assignment and partitions not in (None, len(assignment)):
            reader.add(
                fields[PARTITIONS].place,
                f"{what} has {partitions} partitions, and an assignment of {len(assignment)}; "
                "leave partitions out, or write one list of replicas for each partition",
            )
    if assignment:
        return DesiredTopic(field.place, len(assignment), None, assignment, configs)
    return DesiredTopic(field.place, partitions, factor, None, configs)


def _assignment(reader: FieldReader, tree: YamlTree, what: str) -> Assignment | None:
    """None after a mistake."""
    mistakes_before = len(reader.mistakes)
    found = []
    for partition, item in enumerate(reader.items(tree, what)):
        replicas = tuple(
            reader.number(replica, f"a broker id in the {what}", minimum=0)
            for replica in reader.items(item, f"partition {partition} in the {what}")
        )
        if not replicas or len(set(replicas)) < len(replicas):
            reader.add(
                item.place,
                f"partition {partition} in the {what} has no replicas, or one twice; write broker "
                "ids, such as [1, 2, 3]",
            )
        found.append(tuple(replica for replica in replicas if replica is not None))
    if len(reader.mistakes) > mistakes_before:
        return None
    if not found:
        reader.add(tree.place, f"{what} is empty; write a list of broker ids for each partition")
        return None
    return tuple(found)
