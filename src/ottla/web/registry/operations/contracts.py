"""Metadata and rules of a data contract: merged from a config's defaults, the schema and overrides.

A schema that has none takes over those of the version before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

VERSION_PROPERTY: Final = "confluent:version"
_RULES: Final = ("migrationRules", "domainRules", "encodingRules")


class DataContract(NamedTuple):
    metadata: Mapping[str, Any] | None = None
    rule_set: Mapping[str, Any] | None = None


def merged_contract(
    config: Mapping[str, Any], own: DataContract, previous: DataContract | None
) -> DataContract:
    before = previous or DataContract()
    metadata = own.metadata if own.metadata is not None else before.metadata
    rule_set = own.rule_set if own.rule_set is not None else before.rule_set
    return DataContract(
        _merge_metadata(
            _merge_metadata(config.get("defaultMetadata"), metadata),
            config.get("overrideMetadata"),
        ),
        _merge_rules(
            _merge_rules(config.get("defaultRuleSet"), rule_set), config.get("overrideRuleSet")
        ),
    )


def with_version(metadata: Mapping[str, Any] | None, version: int) -> Mapping[str, Any]:
    found = dict(metadata or {})
    return {
        **found,
        "properties": {**(found.get("properties") or {}), VERSION_PROPERTY: str(version)},
    }


def version_of(metadata: Mapping[str, Any] | None) -> str | None:
    return ((metadata or {}).get("properties") or {}).get(VERSION_PROPERTY)


def without_version(metadata: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What counts when two contracts are compared."""
    if version_of(metadata) is None:
        return metadata
    assert metadata is not None
    properties = {
        name: value for name, value in metadata["properties"].items() if name != VERSION_PROPERTY
    }
    rest = {key: value for key, value in metadata.items() if key != "properties"}
    return {**rest, **({"properties": properties} if properties else {})} or None


def _merge_metadata(
    first: Mapping[str, Any] | None, second: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    if first is None or second is None:
        return second if first is None else first
    tags = {key: set(values) for key, values in (first.get("tags") or {}).items()}
    for key, values in (second.get("tags") or {}).items():
        tags[key] = tags.get(key, set()) | set(values)
    merged = {
        "tags": {key: sorted(values) for key, values in tags.items()},
        "properties": {**(first.get("properties") or {}), **(second.get("properties") or {})},
        "sensitive": sorted({*(first.get("sensitive") or ()), *(second.get("sensitive") or ())}),
    }
    return {key: value for key, value in merged.items() if value}


def _merge_rules(
    first: Mapping[str, Any] | None, second: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """A rule of the second replaces the one of the same name in the first."""
    if first is None or second is None:
        return second if first is None else first
    merged: dict[str, Any] = {}
    for key in _RULES:
        own = list(second.get(key) or ())
        names = {rule.get("name") for rule in own}
        rules = [rule for rule in first.get(key) or () if rule.get("name") not in names] + own
        if rules:
            merged[key] = rules
    enabled = second.get("enableAt") or first.get("enableAt")
    return {**merged, "enableAt": enabled} if enabled else merged
