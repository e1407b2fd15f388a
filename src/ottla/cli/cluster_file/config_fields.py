"""`configs:` of topics, groups, brokers and the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.cli.cluster_file.desired import (
    DesiredConfigs,
    DesiredResource,
    DesiredValue,
    SecretKind,
    SecretSource,
)
from ottla.cli.cluster_file.fields import FieldReader
from ottla.cli.cluster_file.yaml_tree import YamlField, YamlList, YamlMapping, YamlScalar, YamlTree

SENSITIVE: Final = "sensitive"


def read_resource(reader: FieldReader, field: YamlField, what: str) -> DesiredResource:
    """A mapping with nothing but `configs`."""
    fields = reader.fields(field.value, what, ("configs",))
    found = fields.get("configs")
    configs = {} if found is None else read_configs(reader, found.value, what)
    return DesiredResource(field.place, configs)


def read_configs(reader: FieldReader, tree: YamlTree, what: str) -> DesiredConfigs:
    found = {}
    for name, field in reader.entries(tree, f"configs of {what}").items():
        value = _value(reader, field.value, f"{name} of {what}")
        if value is not None:
            found[name] = value
    return found


def _value(reader: FieldReader, tree: YamlTree, what: str) -> DesiredValue | None:
    """None after a mistake."""
    if isinstance(tree, YamlMapping):
        return _secret(reader, tree, what)
    if isinstance(tree, YamlList):
        return DesiredValue(tree.place, ",".join(reader.names(tree, what)))
    if tree.is_null:
        reader.add(
            tree.place,
            f'{what} is empty; write a value, or "" for an empty one, or leave the line out: '
            "--prune then deletes the config",
        )
        return None
    return DesiredValue(tree.place, tree.text)


def _secret(reader: FieldReader, tree: YamlMapping, what: str) -> DesiredValue | None:
    fields = reader.fields(tree, what, (*SecretKind, SENSITIVE))
    if SENSITIVE in fields and len(fields) == 1:
        flag = fields[SENSITIVE].value
        if isinstance(flag, YamlScalar) and flag.text == "true":
            return DesiredValue(tree.place, None)
        reader.add(flag.place, f"{SENSITIVE} of {what} can only be true")
        return None
    source = read_secret(reader, fields, what)
    if source is None and not fields:
        reader.add(tree.place, f"{what} must be a value, or password_file or password_env below it")
    return None if source is None else DesiredValue(tree.place, None, source)


def read_secret(
    reader: FieldReader, fields: Mapping[str, YamlField], what: str
) -> SecretSource | None:
    """`password_file` or `password_env` among these fields; None without them, or after a
    mistake."""
    kinds = [kind for kind in SecretKind if kind in fields]
    if len(kinds) > 1:
        place = fields[kinds[1]].place
        reader.add(place, f"{what} has {kinds[0]} and {kinds[1]}; leave one of them out")
        return None
    for kind in kinds:
        name = reader.text(fields[kind].value, f"{kind} of {what}")
        if name is not None:
            return SecretSource(fields[kind].place, kind, name)
    return None
