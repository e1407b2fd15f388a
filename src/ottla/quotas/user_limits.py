"""How much each user may have: the limits of one user, or of all without a limit of their own. They
are stored as quotas of users (entities.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ottla.quotas.entities import USER, LimitKey, QuotaEntity


class UserLimits:
    """The limits in the quotas of an image."""

    def __init__(self, quotas: Mapping[QuotaEntity, Mapping[str, float]]) -> None:
        # None is the default.
        self._limits: dict[tuple[LimitKey, str | None], int] = {}
        for entity, values in quotas.items():
            if len(entity) == 1 and entity[0][0] == USER:
                for key in LimitKey:
                    if key in values:
                        self._limits[key, entity[0][1]] = int(values[key])
        self._limited = {key for key, _ in self._limits}

    def has(self, key: LimitKey) -> bool:
        """Whether any user has such a limit."""
        return key in self._limited

    def find(self, key: LimitKey, user: str) -> int | None:
        """The limit of a user; None if it has none."""
        limit = self._limits.get((key, user))
        return self._limits.get((key, None)) if limit is None else limit

    def users(self, key: LimitKey) -> Iterator[str]:
        """The users with a limit of their own."""
        return (user for each, user in self._limits if each is key and user is not None)
