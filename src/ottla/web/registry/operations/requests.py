"""Bodies of requests, as clients send them. Unknown members are ignored."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from ottla.web.registry.errors import invalid_rule_set

_MIGRATION_MODES: Final = ("UPGRADE", "DOWNGRADE", "UPDOWN")
_DOMAIN_MODES: Final = ("WRITE", "READ", "WRITEREAD")
_NAME_LENGTH_MAX: Final = 256


class ReferenceBody(msgspec.Struct):
    name: str
    subject: str
    version: int


class MetadataBody(msgspec.Struct, omit_defaults=True):
    tags: dict[str, list[str]] | None = None
    properties: dict[str, str] | None = None
    sensitive: list[str] | None = None


class RuleBody(msgspec.Struct, omit_defaults=True, rename="camel"):
    name: str | None = None
    doc: str | None = None
    kind: str | None = None
    mode: str | None = None
    type: str | None = None
    tags: list[str] | None = None
    params: dict[str, str] | None = None
    expr: str | None = None
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool = False


class RuleSetBody(msgspec.Struct, omit_defaults=True, rename="camel"):
    migration_rules: list[RuleBody] | None = None
    domain_rules: list[RuleBody] | None = None
    encoding_rules: list[RuleBody] | None = None
    enable_at: str | None = None


class SchemaBody(msgspec.Struct, rename="camel"):
    """Of registrations, lookups and checks. `version` and `id` are given by imports."""

    schema: str | None = None
    schema_type: str | None = None
    references: list[ReferenceBody] | None = None
    metadata: MetadataBody | None = None
    rule_set: RuleSetBody | None = None
    id: int | None = None
    version: int | None = None


class ConfigBody(msgspec.Struct, rename="camel"):
    """A member that is absent keeps its value; one that is null removes it."""

    compatibility: str | msgspec.UnsetType | None = msgspec.UNSET
    compatibility_policy: str | msgspec.UnsetType | None = msgspec.UNSET
    compatibility_group: str | msgspec.UnsetType | None = msgspec.UNSET
    normalize: bool | msgspec.UnsetType | None = msgspec.UNSET
    validate_fields: bool | msgspec.UnsetType | None = msgspec.UNSET
    validate_new_schemas: bool | msgspec.UnsetType | None = msgspec.UNSET
    validate_rules: bool | msgspec.UnsetType | None = msgspec.UNSET
    alias: str | msgspec.UnsetType | None = msgspec.UNSET
    alias_for_deks: str | msgspec.UnsetType | None = msgspec.UNSET
    default_metadata: MetadataBody | msgspec.UnsetType | None = msgspec.UNSET
    override_metadata: MetadataBody | msgspec.UnsetType | None = msgspec.UNSET
    default_rule_set: RuleSetBody | msgspec.UnsetType | None = msgspec.UNSET
    override_rule_set: RuleSetBody | msgspec.UnsetType | None = msgspec.UNSET

    def members(self) -> dict[str, Any]:
        """Those that the request has, by their names in JSON."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


class ModeBody(msgspec.Struct):
    mode: str | None = None


SCHEMA_DECODER: Final = msgspec.json.Decoder(SchemaBody)
CONFIG_DECODER: Final = msgspec.json.Decoder(ConfigBody)
MODE_DECODER: Final = msgspec.json.Decoder(ModeBody)


def check_rule_set(rules: RuleSetBody | msgspec.UnsetType | None) -> None:
    """Raises HttpProblem 42210. Rules are stored for clients, which run them; none runs here."""
    if not isinstance(rules, RuleSetBody):
        return
    seen = set()
    for kind, given, modes in (
        ("Migration", rules.migration_rules, _MIGRATION_MODES),
        ("Domain", rules.domain_rules, _DOMAIN_MODES),
        ("Encoding", rules.encoding_rules, _DOMAIN_MODES),
    ):
        for rule in given or ():
            _check_rule(rule)
            if rule.name in seen:
                raise invalid_rule_set(f"Found rule with duplicate name '{rule.name}'")
            seen.add(rule.name)
            if rule.mode not in modes:
                raise invalid_rule_set(f"{kind} rules can only be {', '.join(modes)}")


def _check_rule(rule: RuleBody) -> None:
    name = rule.name
    if not name:
        raise invalid_rule_set("Missing rule name")
    if len(name) > _NAME_LENGTH_MAX:
        raise invalid_rule_set("Rule name too long")
    if not (name[0].isalpha() or name[0] == "_"):
        raise invalid_rule_set(f"Illegal initial character in rule name: {name}")
    if not all(char.isalnum() or char in "_-" for char in name):
        raise invalid_rule_set(f"Illegal character in rule name: {name}")
    if rule.type is None:
        raise invalid_rule_set("Missing rule type")
    for action in (rule.on_success, rule.on_failure):
        if action and "," in action and rule.mode not in ("WRITEREAD", "UPDOWN"):
            raise invalid_rule_set("Multiple actions only valid with WRITEREAD and UPDOWN")
