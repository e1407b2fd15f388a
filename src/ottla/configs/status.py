"""What Ottla does with a setting: honor it, accept and ignore it, or refuse it."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class Status(Enum):
    EFFECTIVE = "effective"
    # A value other than the default is reported when the node starts.
    WITHOUT_EFFECT = "accepted without effect"
    # A node does not start with a value other than the default.
    REFUSED = "refused"


class SettingRefusal(NamedTuple):
    """Why a setting is refused, and what the operator can do. Both are clauses of one sentence."""

    reason: str
    instead: str


WITHOUT_EFFECT: Final = Status.WITHOUT_EFFECT

NO_SECURITY: Final = SettingRefusal(
    "Ottla does not support encryption, authentication or authorization yet, and would accept "
    "every client in spite of these settings",
    "remove them, and let only trusted hosts reach the node, for example with a firewall",
)
NO_JAVA_CLASSES: Final = SettingRefusal(
    "Ottla cannot run Java classes, and would not enforce what this class enforces", "remove it"
)
NO_TIERED_STORAGE: Final = SettingRefusal(
    "Ottla does not support tiered storage yet, and would keep all data on local disks", "remove it"
)
NO_CONFIG_PROVIDERS: Final = SettingRefusal(
    "Ottla does not support config providers, and would take references such as ${file:...} for "
    "values",
    "remove it, and write the values into the properties file",
)
