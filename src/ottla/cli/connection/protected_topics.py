"""Topics that are protected from deletion: for commands that delete several, before they begin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ottla.cli.connection.admin_connection import doing
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.admin import Admin
from ottla.configs import ConfigResource, ConfigResourceType

PROTECTION: Final = "ottla.delete.protection"


async def protected_topics(admin: Admin, names: Iterable[str]) -> dict[str, CommandError]:
    """Those of these topics, with the error of deleting each. Topics whose configs this user may
    not see are left to the cluster, which refuses to delete them."""
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    if not resources:
        return {}
    with doing("describe topics"):
        described = await admin.describe_configs(resources, names=[PROTECTION])
    return {
        resource.name: CommandError(
            f"Topic {resource.name} is protected from deletion.",
            f"To delete it, first run: ottla configs set {PROTECTION}=false --topic "
            f"{resource.name}",
            exit_code=ExitCode.REFUSED,
        )
        for resource, configs in described.succeeded.items()
        if PROTECTION in configs and configs[PROTECTION].value == "true"
    }
