"""Finds the quota of a client. Of the entities with a quota for a key, the first of these counts:

1. the user with the client id
2. the user, default client id
3. the user
4. default user with the client id
5. default user, default client id
6. default user
7. the client id
8. default client id

With quotas 1, 2, 4 and 5, each client id of each user has a rate of its own; with 3 and 6, each
user; with 7 and 8, each client id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ottla.quotas.entities import CLIENT_ID, USER, QuotaEntity, QuotaKey


class Metered(NamedTuple):
    """The clients that share a rate: of a user, of a client id, or of a user's client id. An empty
    name means any."""

    user: str
    client_id: str


class ClientLimit(NamedTuple):
    metered: Metered
    limit: float


class ClientLimits:
    """The quotas for one key."""

    def __init__(self, key: QuotaKey, quotas: Mapping[QuotaEntity, Mapping[str, float]]) -> None:
        # By user and client id: an empty text stands for no such part, None for the default.
        self._limits: dict[tuple[str | None, str | None], float] = {}
        for entity, values in quotas.items():
            parts, limit = dict(entity), values.get(key)
            if limit is not None and (USER in parts or CLIENT_ID in parts):
                self._limits[parts.get(USER, ""), parts.get(CLIENT_ID, "")] = limit

    def __bool__(self) -> bool:
        return bool(self._limits)

    def find(self, user: str, client_id: str) -> ClientLimit | None:
        for entity, metered in _candidates(user, client_id):
            limit = self._limits.get(entity)
            if limit is not None:
                return ClientLimit(metered, limit)
        return None


def _candidates(
    user: str, client_id: str
) -> Iterable[tuple[tuple[str | None, str | None], Metered]]:
    of_user = Metered(user, "")
    if not client_id:
        # As in Kafka, quotas for client ids do not apply to a client without one.
        yield (user, ""), of_user
        yield (None, ""), of_user
        return
    of_both, of_id = Metered(user, client_id), Metered("", client_id)
    yield (user, client_id), of_both
    yield (user, None), of_both
    yield (user, ""), of_user
    yield (None, client_id), of_both
    yield (None, None), of_both
    yield (None, ""), of_user
    yield ("", client_id), of_id
    yield ("", None), of_id
