"""Changes of quotas, for many entities at a time."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.cli.apply.changes import AlterQuotas
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.display.quota_texts import entity_text
from ottla.cli.exit_codes import CommandError
from ottla.client.administration.admin import Admin
from ottla.quotas.entities import QuotaEntity


async def alter_quotas(
    admin: Admin, changes: Sequence[AlterQuotas], *, validate_only: bool = False
) -> dict[QuotaEntity, CommandError]:
    """Returns the errors of what was refused."""
    wanted = {change.entity: {each.key: each.after for each in change.quotas} for change in changes}
    with doing("change quotas"):
        results = await admin.alter_client_quotas(wanted, validate_only=validate_only)
    return {
        entity: refused(f"change the quotas of {entity_text(entity)}", error)
        for entity, error in results.failed.items()
    }
