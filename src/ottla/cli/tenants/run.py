"""Runs `ottla tenants`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.protected_topics import protected_topics
from ottla.cli.display.cells import NOTHING, count
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.tenants.new_tenant import NewTenant
from ottla.client.administration.acls import exact_filter
from ottla.client.administration.admin import Admin
from ottla.client.administration.users import ScramDeletion, ScramPassword
from ottla.client.errors import ApiError
from ottla.configs.resource import BROKERS_DEFAULT
from ottla.metadata.deleted_topic import SEPARATOR
from ottla.model import ErrorCode
from ottla.quotas.entities import USER
from ottla.security.acls.acl import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from ottla.security.acls.acl_filter import AclFilter
from ottla.tenancy.tenant import Tenant, TenantLimits, tenants_of

_NAMED: Final = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)


async def create_tenant(admin: Admin, terminal: Terminal, new: NewTenant, *, as_json: bool) -> None:
    """Each step can be repeated, so a command that failed is run again."""
    tenant = new.tenant
    with doing(f"create tenant {tenant.name}"):
        changes = {BROKERS_DEFAULT: {tenant.config_name: str(tenant.limits)}}
        (await admin.alter_configs(changes)).all()
    if new.password is not None:
        with doing(f"set the password of {new.user}"):
            password = ScramPassword(new.user, new.password)
            (await admin.alter_user_scram_credentials([password])).all()
    if new.quotas:
        with doing(f"set the quotas of {new.user}"):
            (await admin.alter_client_quotas({((USER, new.user),): new.quotas})).all()
    has_acls = await _allow(admin, tenant, new.user)
    if as_json:
        terminal.print_json({**_as_json(tenant), "user": new.user, "acls": has_acls})
        return
    _say(terminal, f"created tenant {tenant.name}; its names begin with {tenant.prefix}")
    _say(terminal, f"its user is {new.user}")
    if not has_acls:
        terminal.notice(
            "The cluster has no authorizer: what keeps tenants apart is that they have listeners "
            "of their own. Let no tenant reach the others."
        )


async def list_tenants(admin: Admin, terminal: Terminal, *, as_json: bool) -> None:
    tenants = await _tenants(admin)
    if as_json:
        for tenant in tenants.values():
            terminal.print_json(_as_json(tenant))
    elif not tenants:
        terminal.notice("There are no tenants. `ottla tenants create` creates one.")
    else:
        fields = [field.replace("_", " ") for field in TenantLimits._fields]
        table = new_table("tenant", *(f"{field} max" for field in fields))
        for tenant in tenants.values():
            cells = (NOTHING if limit is None else f"{limit:,}" for limit in tenant.limits)
            table.add_row(tenant.name, *cells)
        terminal.stdout.print(table)


async def describe_tenant(admin: Admin, terminal: Terminal, name: str, *, as_json: bool) -> None:
    tenant = await _require(admin, name)
    used = await _usage(admin, tenant)
    users = await _users(admin, tenant)
    if as_json:
        terminal.print_json({**_as_json(tenant), "used": used, "users": users})
        return
    table = new_table("of " + tenant.name, "used", "limit", right=("used", "limit"))
    for field, limit in zip(TenantLimits._fields, tenant.limits, strict=True):
        amount = used.get(field)
        table.add_row(
            field.replace("_", " "),
            NOTHING if amount is None else f"{amount:,}",
            NOTHING if limit is None else f"{limit:,}",
        )
    terminal.stdout.print(table)
    _say(terminal, f"users: {', '.join(users) or 'none with a password'}")


async def delete_tenant(
    admin: Admin, terminal: Terminal, name: str, *, with_topics: bool, as_json: bool
) -> None:
    tenant = await _require(admin, name)
    topics = await _topics(admin, tenant)
    if topics and not with_topics:
        raise CommandError(
            f"Tenant {name} has {count(len(topics), 'topic')}, such as {next(iter(topics))}.",
            "Give --with-topics to delete them, too.",
            exit_code=ExitCode.REFUSED,
        )
    for error in (await protected_topics(admin, topics)).values():
        raise error
    # Last the tenant itself, so that a command that failed can be run again.
    with doing(f"delete the topics of {name}"):
        (await admin.delete_topics(topics)).all()
    for user in await _users(admin, tenant):
        await _delete_user(admin, user)
    await _delete_acls(admin, tenant)
    with doing(f"delete the quotas of {name}"):
        quotas = await admin.describe_client_quotas()
        gone: dict[Any, Mapping[str, None]] = {
            entity: dict.fromkeys(values)
            for entity, values in quotas.items()
            if str(dict(entity).get(USER, "")).startswith(tenant.prefix)
        }
        if gone:
            (await admin.alter_client_quotas(gone)).all()
    with doing(f"delete tenant {name}"):
        changes: dict[Any, Mapping[str, str | None]] = {BROKERS_DEFAULT: {tenant.config_name: None}}
        (await admin.alter_configs(changes)).all()
    if as_json:
        terminal.print_json({"tenant": name, "deleted_topics": sorted(topics)})
    else:
        _say(terminal, f"deleted tenant {name}")


async def _tenants(admin: Admin) -> dict[str, Tenant]:
    with doing("list the tenants"):
        configs = (await admin.describe_configs([BROKERS_DEFAULT]))[BROKERS_DEFAULT]
    values = {each.name: each.value or "" for each in configs.values()}
    return dict(sorted(tenants_of(values).items()))


async def _require(admin: Admin, name: str) -> Tenant:
    tenant = (await _tenants(admin)).get(name)
    if tenant is None:
        raise CommandError(
            f"There is no tenant {name}.",
            "`ottla tenants list` shows them.",
            exit_code=ExitCode.REFUSED,
        )
    return tenant


async def _allow(admin: Admin, tenant: Tenant, user: str) -> bool:
    """Lets a user do everything with what the tenant has. Returns whether there are ACLs."""
    entry = AccessControlEntry(f"User:{user}", "*", AclOperation.ALL, Permission.ALLOW)
    bindings = [
        AclBinding(ResourcePattern(kind, tenant.prefix, PatternType.PREFIXED), entry)
        for kind in _NAMED
    ]
    with doing(f"allow {user} to use what {tenant.name} has"):
        try:
            (await admin.create_acls(bindings)).all()
        except ApiError as error:
            if error.code is ErrorCode.SECURITY_DISABLED:
                return False
            raise
    return True


async def _delete_acls(admin: Admin, tenant: Tenant) -> None:
    with doing(f"delete the ACLs of {tenant.name}"):
        try:
            found = await admin.describe_acls(AclFilter())
        except ApiError as error:
            if error.code is ErrorCode.SECURITY_DISABLED:
                return
            raise
        own = [
            exact_filter(each)
            for each in found
            if each.entry.principal.startswith(f"User:{tenant.prefix}")
            or each.pattern.name.startswith(tenant.prefix)
        ]
        (await admin.delete_acls(own)).all()


async def _delete_user(admin: Admin, user: str) -> None:
    with doing(f"delete user {user}"):
        known = (await admin.describe_user_scram_credentials([user]))[user]
        for each in known:
            deletion = ScramDeletion(user, each.mechanism)
            (await admin.alter_user_scram_credentials([deletion])).all()


async def _usage(admin: Admin, tenant: Tenant) -> dict[str, int]:
    topics = await _topics(admin, tenant)
    with doing(f"describe tenant {tenant.name}"):
        groups = await admin.list_groups()
        directories = (await admin.describe_log_dirs()).all()
    return {
        "topics": len(topics),
        "partitions": sum(topics.values()),
        "groups": sum(each.id.startswith(tenant.prefix) for each in groups),
        "retained_bytes": sum(
            replica.size_in_bytes
            for found in directories.values()
            for directory in found
            for replica in directory.replicas
            if replica.topic.startswith(tenant.prefix) and SEPARATOR not in replica.topic
        ),
    }


async def _topics(admin: Admin, tenant: Tenant) -> dict[str, int]:
    """The numbers of partitions by topic."""
    with doing(f"list the topics of {tenant.name}"):
        found = await admin.list_topics()
    return {
        name: len(topic.partitions)
        for name, topic in found.items()
        if name.startswith(tenant.prefix)
    }


async def _users(admin: Admin, tenant: Tenant) -> list[str]:
    with doing(f"list the users of {tenant.name}"):
        found = await admin.describe_user_scram_credentials()
    return [user for user in found if user.startswith(tenant.prefix)]


def _as_json(tenant: Tenant) -> dict[str, Any]:
    return {"tenant": tenant.name, "prefix": tenant.prefix, "limits": tenant.limits._asdict()}


def _say(terminal: Terminal, text: str) -> None:
    terminal.stdout.print(text, markup=False, soft_wrap=True)
