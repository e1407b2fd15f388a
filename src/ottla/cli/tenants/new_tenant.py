"""The options of `ottla tenants create`, checked before anything connects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ottla.cli.arguments.quota_values import parse_quotas
from ottla.cli.display.passwords import read_password_file
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.configs.value import Password
from ottla.tenancy.tenant import Tenant, TenantLimits, check_tenant_name


@dataclass(frozen=True, slots=True)
class NewTenant:
    tenant: Tenant
    # With the prefix.
    user: str
    password: Password | None
    quotas: dict[str, float]

    @classmethod
    def of(
        cls,
        name: str,
        user: str,
        password_file: Path | None,
        quotas: Sequence[str],
        limits: Sequence[int | None],
    ) -> NewTenant:
        """Raises CommandError."""
        try:
            check_tenant_name(name)
        except ValueError as error:
            raise CommandError(f"{error}.", exit_code=ExitCode.USAGE) from None
        if not user or not user.isascii():
            raise CommandError(
                "The name of a user must be ASCII and not empty.", exit_code=ExitCode.USAGE
            )
        tenant = Tenant(name, TenantLimits(*limits))
        password = None if password_file is None else read_password_file(password_file)
        return cls(tenant, tenant.prefix + user, password, parse_quotas(quotas))
