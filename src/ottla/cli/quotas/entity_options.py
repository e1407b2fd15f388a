"""The options of `ottla quotas` that name an entity."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.cli.display.quota_texts import entity_text
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.quotas.entities import CLIENT_ID, IP, USER, QuotaEntity


@dataclass(frozen=True, slots=True)
class EntityOptions:
    """Type and name of each part; no name means the default."""

    entity: QuotaEntity

    @classmethod
    def of(
        cls,
        user: str | None,
        client_id: str | None,
        ip: str | None,
        default_user: bool,
        default_client_id: bool,
        default_ip: bool,
        *,
        is_filter: bool = False,
    ) -> EntityOptions:
        """Raises CommandError. Only a filter may name nothing."""
        parts = []
        for kind, name, is_default in (
            (CLIENT_ID, client_id, default_client_id),
            (IP, ip, default_ip),
            (USER, user, default_user),
        ):
            if name is not None and is_default:
                raise _usage(f"Give --{kind} or --default-{kind}, not both.")
            if name is not None or is_default:
                parts.append((kind, name))
        kinds = [kind for kind, _ in parts]
        if IP in kinds and len(kinds) > 1:
            raise _usage("A quota of an address cannot name a user or a client id.")
        if not parts and not is_filter:
            raise _usage(
                "Say for whom: --user, --client-id, both, --ip, or one of the defaults, such as "
                "--default-user."
            )
        return cls(tuple(parts))

    @property
    def text(self) -> str:
        return entity_text(self.entity)


def _usage(message: str) -> CommandError:
    return CommandError(message, exit_code=ExitCode.USAGE)
