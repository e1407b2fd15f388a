"""What the options of `ottla acls` mean: ACLs to create, and filters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, TypeVar

from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.security.acls.acl import (
    ANY_HOST,
    CLUSTER_NAME,
    SUPPORTED_OPERATIONS,
    AccessControlEntry,
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from ottla.security.acls.acl_filter import AclFilter
from ottla.security.principal import parse_principal

E = TypeVar("E", AclOperation, PatternType)

_FILTERS_ONLY: Final = frozenset({PatternType.ANY, PatternType.MATCH})
_PRODUCER: Final[Mapping[ResourceType, tuple[AclOperation, ...]]] = {
    ResourceType.TOPIC: (AclOperation.WRITE, AclOperation.DESCRIBE, AclOperation.CREATE),
    ResourceType.TRANSACTIONAL_ID: (AclOperation.WRITE, AclOperation.DESCRIBE),
}
_CONSUMER: Final[Mapping[ResourceType, tuple[AclOperation, ...]]] = {
    ResourceType.TOPIC: (AclOperation.READ, AclOperation.DESCRIBE),
    ResourceType.GROUP: (AclOperation.READ,),
}
_OPTIONS: Final[Mapping[ResourceType, str]] = {
    ResourceType.TOPIC: "--topic",
    ResourceType.GROUP: "--group",
    ResourceType.CLUSTER: "--cluster",
    ResourceType.TRANSACTIONAL_ID: "--transactional-id",
    ResourceType.DELEGATION_TOKEN: "--delegation-token",
    ResourceType.USER: "--user-principal",
}
_NAME_RESOURCES: Final = "Name resources, such as --topic TOPIC or --cluster."


@dataclass(frozen=True, slots=True)
class ResourceOptions:
    """The options as they are given: None stands for an option that is not."""

    topics: Sequence[str] | None = None
    groups: Sequence[str] | None = None
    cluster: bool = False
    transactional_ids: Sequence[str] | None = None
    delegation_tokens: Sequence[str] | None = None
    user_principals: Sequence[str] | None = None
    pattern_type: str = "literal"

    def named(self) -> Iterator[tuple[ResourceType, str]]:
        """Raises CommandError for an empty name."""
        of_types: tuple[tuple[ResourceType, Sequence[str] | None], ...] = (
            (ResourceType.TOPIC, self.topics),
            (ResourceType.GROUP, self.groups),
            (ResourceType.CLUSTER, (CLUSTER_NAME,) if self.cluster else ()),
            (ResourceType.TRANSACTIONAL_ID, self.transactional_ids),
            (ResourceType.DELEGATION_TOKEN, self.delegation_tokens),
            (ResourceType.USER, self.user_principals),
        )
        for resource_type, names in of_types:
            for name in dict.fromkeys(names or ()):
                if not name:
                    raise _usage(f"{_OPTIONS[resource_type]} has an empty name.")
                if resource_type is ResourceType.USER:
                    _check_principal(name, _OPTIONS[resource_type])
                yield resource_type, name

    def patterns(self) -> list[ResourcePattern]:
        """For ACLs to create. Of the cluster there is only one, whatever the pattern type."""
        pattern_type = _parse(PatternType, self.pattern_type, "--resource-pattern-type")
        if pattern_type in _FILTERS_ONLY:
            raise _usage(
                f"--resource-pattern-type {self.pattern_type} can only find ACLs, not add them.",
                "Write literal or prefixed.",
            )
        return [
            ResourcePattern(
                resource_type,
                name,
                PatternType.LITERAL if resource_type is ResourceType.CLUSTER else pattern_type,
            )
            for resource_type, name in self.named()
        ]

    def filters(self) -> list[AclFilter]:
        """One for each resource; one for all if none is named."""
        pattern_type = _parse(PatternType, self.pattern_type, "--resource-pattern-type")
        found = [AclFilter(kind, name, pattern_type) for kind, name in self.named()]
        return found or [AclFilter()]


@dataclass(frozen=True, slots=True)
class EntryOptions:
    """The options as they are given: None stands for an option that is not."""

    allow_principals: Sequence[str] | None = None
    deny_principals: Sequence[str] | None = None
    allow_hosts: Sequence[str] | None = None
    deny_hosts: Sequence[str] | None = None
    operations: Sequence[str] | None = None
    is_producer: bool = False
    is_consumer: bool = False
    is_idempotent: bool = False

    @property
    def is_convenient(self) -> bool:
        return self.is_producer or self.is_consumer

    def parsed_operations(self) -> list[AclOperation]:
        return [_parse(AclOperation, text, "--operation") for text in self.operations or ()]

    def who(self, *, any_host: str | None) -> Iterator[tuple[Permission, str, str | None]]:
        """Permission, principal and host of each entry. `any_host` stands for hosts not given."""
        for permission, principals, hosts, word in (
            (Permission.ALLOW, self.allow_principals, self.allow_hosts, "allow"),
            (Permission.DENY, self.deny_principals, self.deny_hosts, "deny"),
        ):
            if hosts and not principals:
                raise _usage(f"--{word}-host needs --{word}-principal.")
            for principal in principals or ():
                _check_principal(principal, f"--{word}-principal")
            for principal, host in product(principals or (), hosts or (any_host,)):
                yield permission, principal, host


def bindings_to_add(resources: ResourceOptions, entries: EntryOptions) -> list[AclBinding]:
    """Raises CommandError for options that contradict each other."""
    patterns = resources.patterns()
    who = list(entries.who(any_host=ANY_HOST))
    if not who:
        raise _usage(
            "No principal is given.", "Name one with --allow-principal or --deny-principal."
        )
    _check_conveniences(resources, entries)
    rights = (
        _convenient_rights(patterns, entries)
        if entries.is_convenient
        else _rights(patterns, entries.parsed_operations())
    )
    found = [
        AclBinding(pattern, AccessControlEntry(principal, host or ANY_HOST, operation, permission))
        for pattern, operation in rights
        for permission, principal, host in who
    ]
    return list(dict.fromkeys(found))


def filters_to_remove(resources: ResourceOptions, entries: EntryOptions) -> list[AclFilter]:
    """What is not given matches everything, but some resource has to be named."""
    if not any(True for _ in resources.named()):
        raise _usage("No resource is given.", _NAME_RESOURCES)
    _check_conveniences(resources, entries)
    filters = resources.filters()
    rights: list[tuple[AclFilter, AclOperation]] = []
    if entries.is_convenient:
        for kind, operation in _convenient_operations(entries):
            rights += [(each, operation) for each in filters if each.resource_type is kind]
        if entries.is_idempotent:
            cluster = AclFilter(ResourceType.CLUSTER, CLUSTER_NAME, PatternType.LITERAL)
            rights.append((cluster, AclOperation.IDEMPOTENT_WRITE))
    else:
        operations = entries.parsed_operations() or [AclOperation.ANY]
        rights += product(filters, operations)
    who = list(entries.who(any_host=None))
    if not who:
        return [each._replace(operation=operation) for each, operation in rights]
    return [
        each._replace(operation=operation, permission=permission, principal=principal, host=host)
        for each, operation in rights
        for permission, principal, host in who
    ]


def filters_to_list(resources: ResourceOptions, principals: Sequence[str]) -> list[AclFilter]:
    for principal in principals:
        _check_principal(principal, "--principal")
    return [
        each._replace(principal=principal)
        for each in resources.filters()
        for principal in principals or (None,)
    ]


def _check_conveniences(resources: ResourceOptions, entries: EntryOptions) -> None:
    if entries.is_idempotent and not entries.is_producer:
        raise _usage("--idempotent works only with --producer.")
    if not entries.is_convenient:
        return
    if entries.operations:
        raise _usage("--producer and --consumer imply the operations: leave out --operation.")
    if entries.deny_principals:
        raise _usage("--producer and --consumer work only with --allow-principal.")
    if not resources.topics or (entries.is_consumer and not resources.groups):
        needed = "--topic and --group" if entries.is_consumer else "--topic"
        option = "--consumer" if entries.is_consumer else "--producer"
        raise _usage(f"{option} needs {needed}.", "* stands for all of them.")
    known = {kind for kind, _ in _convenient_operations(entries)}
    for kind, _ in resources.named():
        if kind not in known:
            option = "--consumer" if entries.is_consumer else "--producer"
            raise _usage(
                f"{option} does not apply to {_OPTIONS[kind]}.",
                f"Use {_OPTIONS[kind]} in a separate command, with --operation.",
            )


def _convenient_operations(entries: EntryOptions) -> list[tuple[ResourceType, AclOperation]]:
    """Without the one on the cluster."""
    rights = [
        *(_PRODUCER.items() if entries.is_producer else ()),
        *(_CONSUMER.items() if entries.is_consumer else ()),
    ]
    found = [(kind, operation) for kind, operations in rights for operation in operations]
    return list(dict.fromkeys(found))


def _convenient_rights(
    patterns: Iterable[ResourcePattern], entries: EntryOptions
) -> list[tuple[ResourcePattern, AclOperation]]:
    operations = _convenient_operations(entries)
    rights = [
        (pattern, operation)
        for pattern in patterns
        for kind, operation in operations
        if kind is pattern.resource_type
    ]
    if entries.is_idempotent:
        cluster = ResourcePattern(ResourceType.CLUSTER, CLUSTER_NAME)
        rights.append((cluster, AclOperation.IDEMPOTENT_WRITE))
    return rights


def _rights(
    patterns: Sequence[ResourcePattern], operations: Sequence[AclOperation]
) -> list[tuple[ResourcePattern, AclOperation]]:
    if not patterns:
        raise _usage("No resource is given.", _NAME_RESOURCES)
    if not operations:
        raise _usage("No operation is given.", "Add --operation, --producer or --consumer.")
    for pattern, operation in product(patterns, operations):
        _check_suits(operation, pattern.resource_type)
    return list(product(patterns, operations))


def _check_suits(operation: AclOperation, resource_type: ResourceType) -> None:
    supported = (AclOperation.ALL, *SUPPORTED_OPERATIONS[resource_type])
    if operation not in supported:
        names = ", ".join(_text(each) for each in supported)
        raise _usage(
            f"{_OPTIONS[resource_type]} has no operation {_text(operation)}.",
            f"Its operations are {names}.",
        )


def _parse(kind: type[E], text: str, option: str) -> E:
    """In any case, with dashes, underscores or nothing between words: DescribeConfigs."""
    plain = _plain(text)
    known = [each for each in kind if each.name != "UNKNOWN"]
    if kind is AclOperation:
        known = [each for each in known if each.name != "ANY"]
    for each in known:
        if _plain(each.name) == plain:
            return each
    names = ", ".join(_text(each) for each in known)
    raise _usage(f"{option} {text!r} is unknown.", f"Choose one of {names}.")


def _plain(text: str) -> str:
    return text.lower().replace("-", "").replace("_", "")


def _text(value: AclOperation | PatternType) -> str:
    return value.name.lower().replace("_", "-")


def _check_principal(text: str, option: str) -> None:
    try:
        principal = parse_principal(text)
    except ValueError as error:
        raise _usage(f"{option}: {error}.") from None
    if not principal.type or not principal.name:
        raise _usage(f"{option} {text!r} lacks a type or a name: write User:NAME.")


def _usage(message: str, *hints: str) -> CommandError:
    return CommandError(message, *hints, exit_code=ExitCode.USAGE)
