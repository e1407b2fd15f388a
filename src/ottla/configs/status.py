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
    """Why a setting is refused, and what the operator can do. Both are clauses of one sentence.

    Besides the default, the values in `accepted` are not refused: they ask for nothing that Ottla
    does otherwise.
    """

    reason: str
    instead: str
    accepted: tuple[str, ...] = ()

    def accepting(self, *values: str) -> SettingRefusal:
        return self._replace(accepted=values)


WITHOUT_EFFECT: Final = Status.WITHOUT_EFFECT

NO_JAVA_CLASSES: Final = SettingRefusal(
    "Ottla cannot run Java classes, and would not enforce what this class enforces", "remove it"
)
NO_JAVA_PROVIDERS: Final = SettingRefusal(
    "Ottla uses OpenSSL, and would not use the algorithms of a Java provider", "remove it"
)
NO_TRUST_MANAGERS: Final = SettingRefusal(
    "Ottla verifies certificates with OpenSSL, and would not enforce what this Java trust manager "
    "enforces",
    "remove it",
)
NO_KERBEROS: Final = SettingRefusal(
    "Ottla does not support Kerberos (GSSAPI)",
    "remove it, and use PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER",
)
NO_JWT_ASSERTIONS: Final = SettingRefusal(
    "Ottla obtains OAuth tokens with client credentials or from a file, not with a JWT assertion",
    "remove it, and set sasl.oauthbearer.token.endpoint.url",
)
UNKNOWN_SECURITY_SETTING: Final = SettingRefusal(
    "neither Kafka nor Ottla has this security setting, and ignoring it could leave the node "
    "unsecured",
    "correct the name or remove it",
)
NOT_OF_ONE_LISTENER: Final = SettingRefusal(
    "this security setting applies to the whole node", "write it without listener.name.<listener>."
)
LISTENER_NOT_IN_LOWER_CASE: Final = SettingRefusal(
    "Kafka ignores a listener's setting unless the listener's name in it is in lower case",
    "write listener.name.<listener> in lower case",
)
NO_TIERED_STORAGE: Final = SettingRefusal(
    "Ottla does not support tiered storage yet, and would keep all data on local disks", "remove it"
)
NO_CONFIG_PROVIDERS: Final = SettingRefusal(
    "Ottla does not support config providers, and would take references such as ${file:...} for "
    "values",
    "remove it, and write the values into the properties file",
)
