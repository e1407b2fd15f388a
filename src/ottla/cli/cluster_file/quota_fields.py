"""`quotas:`, each item the quotas of a user, a client id, both, an address, or a default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.cli.arguments.quota_values import KEYS, quota_value
from ottla.cli.cluster_file.desired import DesiredQuota
from ottla.cli.cluster_file.fields import FieldReader
from ottla.cli.cluster_file.mistakes import Place, unknown_name_text
from ottla.cli.cluster_file.yaml_tree import YamlField, YamlTree
from ottla.quotas.entities import CLIENT_ID, IP, USER, QuotaEntity

DEFAULT: Final = "default"
LIMITS: Final = "limits"
# By the field of an item.
KINDS: Final[Mapping[str, str]] = {"user": USER, "client_id": CLIENT_ID, "ip": IP}


def read_quota(
    reader: FieldReader, tree: YamlTree
) -> tuple[QuotaEntity, Place, dict[str, DesiredQuota]] | None:
    """The entity, where it is, and its limits by key. None after a mistake."""
    mistakes_before = len(reader.mistakes)
    fields = reader.fields(tree, "a quota", (*KINDS, DEFAULT, LIMITS))
    if len(reader.mistakes) > mistakes_before:
        return None
    entity = _entity(reader, tree, fields)
    limits = _limits(reader, tree, fields)
    return None if len(reader.mistakes) > mistakes_before else (entity, tree.place, limits)


def _entity(reader: FieldReader, tree: YamlTree, fields: Mapping[str, YamlField]) -> QuotaEntity:
    parts: dict[str, str | None] = {}
    for field, kind in KINDS.items():
        if field in fields:
            parts[kind] = reader.text(fields[field].value, f"{field} of the quota")
    if DEFAULT in fields:
        place = fields[DEFAULT].place
        for name in reader.names(fields[DEFAULT].value, "default of the quota"):
            if name not in KINDS:
                hint = unknown_name_text(name, KINDS)
                reader.add(place, f"{name!r} has no default quota{hint}")
            elif KINDS[name] in parts:
                reader.add(place, f"this quota names a {name} and its default; leave one out")
            else:
                parts[KINDS[name]] = None
    if not parts:
        reader.add(
            tree.place,
            "this quota is for nothing; write user, client_id, ip, or default with one of them",
        )
    if IP in parts and len(parts) > 1:
        reader.add(tree.place, "a quota of an address cannot name users or client ids")
    return tuple(sorted(parts.items(), key=lambda part: part[0]))


def _limits(
    reader: FieldReader, tree: YamlTree, fields: Mapping[str, YamlField]
) -> dict[str, DesiredQuota]:
    if LIMITS not in fields:
        reader.add(tree.place, "this quota has no limits; write limits: KEY: VALUE below it")
        return {}
    found = {}
    for key, field in reader.entries(fields[LIMITS].value, "limits of the quota").items():
        if key not in KEYS:
            reader.add(field.place, f"there is no quota {key}{unknown_name_text(key, KEYS)}")
            continue
        text = reader.text(field.value, f"{key} of the quota")
        if text is None:
            continue
        value = quota_value(key, text)
        if value is None:
            reader.add(field.place, f"{key} is {text!r}; write a number")
        else:
            found[key] = DesiredQuota(field.place, value)
    return found
