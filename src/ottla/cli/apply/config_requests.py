"""Changes of configs, for many resources at a time."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.cli.apply.changes import AlterResource
from ottla.cli.apply.secrets_of_files import Secrets, value_of
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.connection.resource_configs import resource_text
from ottla.cli.exit_codes import CommandError
from ottla.client.administration.admin import Admin
from ottla.configs import ConfigAlteration, ConfigOperation, ConfigResource


async def alter_resources(
    admin: Admin,
    changes: Sequence[AlterResource],
    secrets: Secrets,
    *,
    validate_only: bool = False,
) -> dict[ConfigResource, CommandError]:
    """Returns the errors of what was refused."""
    altered = {change.resource: _alterations(change, secrets) for change in changes}
    with doing("change configs"):
        results = await admin.alter_configs(altered, validate_only=validate_only)
    return {
        resource: refused(f"change the configs of {resource_text(resource)}", error)
        for resource, error in results.failed.items()
    }


def _alterations(change: AlterResource, secrets: Secrets) -> list[ConfigAlteration]:
    return [
        ConfigAlteration(
            config.name,
            ConfigOperation.DELETE if config.is_deletion else ConfigOperation.SET,
            value_of(config, secrets),
        )
        for config in change.configs
    ]
