"""The properties of an `Admin`."""

from __future__ import annotations

from typing import Final

from ottla.client.settings.common import COMMON, CommonProperties
from ottla.client.settings.property import ClientProperty, number, table

ADMIN_PROPERTIES: Final = table(
    *COMMON.values(),
    ClientProperty(
        "default.api.timeout.ms", number(), 60_000, "time for a call that has no timeout of its own"
    ),
)


class AdminProperties(CommonProperties, total=False):
    """The keywords of `Admin`."""

    default_api_timeout_ms: int
