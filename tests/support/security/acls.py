"""Access control entries in few words, and configs of nodes that have them."""

from __future__ import annotations

from dataclasses import replace

from ottla.configs import NodeConfig
from ottla.configs.value import Password
from ottla.security.acls.acl import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from ottla.security.acls.authorizer import StandardAuthorizer
from ottla.security.acls.rights import Rights
from ottla.security.principal import Principal
from ottla.wire.stored.cluster_metadata.security import AccessControlEntryRecord
from tests.support.controller.cluster_images import node_config, uuid

ALICE = Principal("User", "alice")
BOB = Principal("User", "bob")
HOST = "10.0.0.1"
SECRET_KEY = Password("a secret of all nodes")
AUTHORIZER_CLASS = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


def acl(
    operation: AclOperation,
    resource_type: ResourceType,
    name: str,
    *,
    principal: str = str(ALICE),
    host: str = "*",
    permission: Permission = Permission.ALLOW,
    pattern: PatternType = PatternType.LITERAL,
) -> AclBinding:
    return AclBinding(
        ResourcePattern(resource_type, name, pattern),
        AccessControlEntry(principal, host, operation, permission),
    )


def acl_records(*bindings: AclBinding) -> list[AccessControlEntryRecord]:
    """With ids from `uuid(0)` on."""
    return [binding.to_record(uuid(index)) for index, binding in enumerate(bindings)]


def authorizer_of(
    *bindings: AclBinding, super_users: tuple[str, ...] = (), allows_everyone: bool = False
) -> StandardAuthorizer:
    authorizer = StandardAuthorizer(
        super_users=super_users, allows_everyone_if_no_acl_found=allows_everyone
    )
    for record in acl_records(*bindings):
        authorizer.add(record)
    return authorizer


def rights_of(principal: Principal, *bindings: AclBinding) -> Rights:
    """Of a principal that may do what the entries allow, and nothing else."""
    return Rights(authorizer_of(*bindings), principal, HOST)


def secured(node: NodeConfig, **values: bool | int | str | Password | None) -> NodeConfig:
    """With an authorizer and delegation tokens; `authorizer_class_name=""` is without."""
    given = {
        "authorizer_class_name": AUTHORIZER_CLASS,
        "delegation_token_secret_key": SECRET_KEY,
        **values,
    }
    named = {name.replace("_", "."): value for name, value in given.items()}
    return replace(node, values={**node.values, **named})


def secured_config(**values: bool | int | str | Password | None) -> NodeConfig:
    return secured(node_config(), **values)
