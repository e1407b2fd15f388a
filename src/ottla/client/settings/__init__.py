"""Kafka's properties of clients: one table says what each is called, takes, and means.

A client's own table is `COMMON` and its rows; its TypedDict of keywords has the same names. Names
of security are checked by `client_security`.
"""

from ottla.client.settings.common import (
    COMMON,
    ClusterSettings,
    CommonProperties,
    cluster_settings,
)
from ottla.client.settings.parsing import ParsedProperties, parse_properties
from ottla.client.settings.property import (
    REQUIRED,
    ClientProperty,
    boolean,
    names,
    number,
    one_of,
    table,
    text,
)
from ottla.client.settings.security import OAuthBearer, Plain, Scram, Security, Tls

__all__ = [
    "COMMON",
    "REQUIRED",
    "ClientProperty",
    "ClusterSettings",
    "CommonProperties",
    "OAuthBearer",
    "ParsedProperties",
    "Plain",
    "Scram",
    "Security",
    "Tls",
    "boolean",
    "cluster_settings",
    "names",
    "number",
    "one_of",
    "parse_properties",
    "table",
    "text",
]
