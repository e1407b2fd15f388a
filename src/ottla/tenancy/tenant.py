"""A tenant: its name, which is the prefix of all that it has, and its limits.

A tenant is stored as a cluster-wide dynamic broker config, `ottla.tenant.<name>`, with its limits
as the value, such as `topics=10,partitions=100`. Apache Kafka's tools show it, and snapshots,
backups and `ottla export` contain it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.configs.tenant_configs import TENANT_CONFIG, is_tenant_config

SEPARATOR: Final = "."
# Without a dot, so that no prefix begins another one, and without an underscore: topics whose names
# differ only by dots and underscores collide, and topics of two tenants must not.
_NAME: Final = re.compile(r"[a-zA-Z0-9-]{1,64}")


class TenantLimits(NamedTuple):
    """None is no limit. Topics and partitions are counted in the cluster, the others on each
    node."""

    topics: int | None = None
    partitions: int | None = None
    groups: int | None = None
    connections: int | None = None
    # Of the partitions that a node leads.
    retained_bytes: int | None = None

    @classmethod
    def parse(cls, text: str) -> TenantLimits:
        """Raises ValueError."""
        limits: dict[str, int] = {}
        for part in filter(None, text.split(",")):
            name, equals, value = part.strip().partition("=")
            if name not in cls._fields or not equals:
                raise ValueError(
                    f"{part!r} is not a limit of a tenant: write <limit>=<number> with one of "
                    f"{', '.join(cls._fields)}"
                )
            if not (value.isascii() and value.isdecimal()):
                raise ValueError(f"the limit {name} must be a number, but it is {value!r}")
            limits[name] = int(value)
        return cls(**limits)

    def __str__(self) -> str:
        given = zip(self._fields, self, strict=True)
        return ",".join(f"{name}={limit}" for name, limit in given if limit is not None)


class Tenant(NamedTuple):
    name: str
    limits: TenantLimits = TenantLimits()

    @property
    def prefix(self) -> str:
        return self.name + SEPARATOR

    @property
    def config_name(self) -> str:
        return TENANT_CONFIG + self.name


def check_tenant_name(name: str) -> None:
    """Raises ValueError."""
    if _NAME.fullmatch(name) is None:
        raise ValueError(
            f"{name!r} cannot be the name of a tenant: it has at most 64 letters, digits and "
            "hyphens"
        )


def parse_tenant(config_name: str, text: str) -> Tenant:
    """The tenant of a config. Raises ValueError."""
    name = config_name.removeprefix(TENANT_CONFIG)
    check_tenant_name(name)
    return Tenant(name, TenantLimits.parse(text))


def tenants_of(configs: Mapping[str, str]) -> dict[str, Tenant]:
    """The tenants by name, of a cluster's dynamic broker configs. Of one whose limits cannot be
    read, the limits are left out."""
    found = {}
    for config_name, text in configs.items():
        if is_tenant_config(config_name):
            name = config_name.removeprefix(TENANT_CONFIG)
            try:
                found[name] = parse_tenant(config_name, text)
            except ValueError:
                found[name] = Tenant(name)
    return found


def tenant_name_of(name: str) -> str | None:
    """The name of the tenant that a topic, a group or a user would belong to; None if of none."""
    tenant, separator, _ = name.partition(SEPARATOR)
    return tenant if separator else None


def tenant_prefix(configs: Mapping[str, str], name: str) -> str:
    """The prefix of the tenant that a topic or a group belongs to; empty if of none."""
    tenant = tenant_name_of(name)
    return f"{tenant}{SEPARATOR}" if tenant and TENANT_CONFIG + tenant in configs else ""
