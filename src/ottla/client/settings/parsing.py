"""Reads the properties of a client, given by Kafka's names, as keywords or both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ottla.channels import PLAINTEXT, ChannelSecurity
from ottla.client.errors import ConfigError
from ottla.client.settings.property import IGNORED, REQUIRED, ClientProperty, read_value
from ottla.client.settings.security import Security
from ottla.client_security.client_security import parse_client_security
from ottla.client_security.errors import ClientPropertyError
from ottla.client_security.property_names import COMMON_NAMES, KAFKA_NAMES, is_of_security
from ottla.runtime.dice import Dice

_TYPED_SECURITY = "security"


class ParsedProperties(NamedTuple):
    """`values` has every property of the table, by Kafka's name; `given` the names that were
    set."""

    values: Mapping[str, Any]
    given: frozenset[str]
    security: ChannelSecurity


def parse_properties(
    table: Mapping[str, ClientProperty],
    properties: Mapping[str, Any] | None,
    keywords: Mapping[str, Any],
    *,
    dice: Dice | None = None,
) -> ParsedProperties:
    """Raises ConfigError for a property that is unknown, given twice, missing or of another
    kind."""
    given, security = _merged(properties or {}, keywords)
    own = {name: value for name, value in given.items() if not is_of_security(name)}
    for name in own:
        if name not in table and name not in IGNORED:
            raise _unknown(name, table)
    found = {}
    for name, known in table.items():
        if name in own and own[name] is not None:
            found[name] = read_value(known, own[name])
        elif known.default is REQUIRED:
            raise ConfigError(f"{name} is missing: {known.meaning}.")
        else:
            found[name] = known.default
    secured = {name: value for name, value in given.items() if is_of_security(name)}
    return ParsedProperties(found, frozenset(given), _security(security, secured, dice))


def _merged(
    properties: Mapping[str, Any], keywords: Mapping[str, Any]
) -> tuple[dict[str, Any], Any]:
    given = dict(properties)
    security = given.pop(_TYPED_SECURITY, None)
    for keyword, value in keywords.items():
        if keyword == _TYPED_SECURITY:
            security = value
            continue
        name = keyword.replace("_", ".")
        if name in given:
            raise ConfigError(f"{name} is given twice, as a property and as a keyword.")
        given[name] = value
    return given, security


def _security(
    typed: Security | ChannelSecurity | None, given: Mapping[str, Any], dice: Dice | None
) -> ChannelSecurity:
    if typed is not None and given:
        raise ConfigError(f"security and {min(given)} set the same thing: leave one of them out.")
    if isinstance(typed, ChannelSecurity):
        return typed
    properties = typed.properties() if typed is not None else given
    if not properties:
        return PLAINTEXT
    texts = {name: str(value) for name, value in properties.items() if value is not None}
    # Most clients of tests and of this host have neither TLS nor SASL.
    from ottla.client_security.node_channel import channel_security

    try:
        return channel_security(parse_client_security(texts), dice)
    except ClientPropertyError as error:
        raise ConfigError(error.message, *error.hints) from None


def _unknown(name: str, table: Mapping[str, ClientProperty]) -> ConfigError:
    # Imported late: correct names do not need it.
    from difflib import get_close_matches

    known = sorted({*table, *KAFKA_NAMES, *COMMON_NAMES})
    near = get_close_matches(name, known, n=2)
    hints = [f"Did you mean {' or '.join(near)}?"] if near else []
    return ConfigError(f"There is no property {name} of this client.", *hints)
