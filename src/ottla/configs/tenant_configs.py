"""The configs that tenants are stored as: one for each, `ottla.tenant.<name>` (tenancy/tenant.py).

Like a quota, such a config is set for the whole cluster, while it runs, and has no default.
"""

from __future__ import annotations

from typing import Final

from ottla.configs.definition import CLUSTER_WIDE, ConfigDefinition, string

TENANT_CONFIG: Final = "ottla.tenant."
_DEFINITION: Final = string(TENANT_CONFIG, "", CLUSTER_WIDE)
# A node's own setting, with the same beginning.
_LISTENERS: Final = "ottla.tenant.listeners"


def tenant_definition(name: str) -> ConfigDefinition | None:
    """None if this is another config."""
    if not is_tenant_config(name):
        return None
    return _DEFINITION._replace(name=name)


def is_tenant_config(name: str) -> bool:
    return name.startswith(TENANT_CONFIG) and name != _LISTENERS
