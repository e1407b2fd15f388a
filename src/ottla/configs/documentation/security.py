"""What the broker configs mean: authorization, delegation tokens, the audit log and principals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SECURITY_TEXTS: Final[Mapping[str, str]] = {
    "allow.everyone.if.no.acl.found": (
        "Whether every client may use a resource that no ACL matches. It needs "
        "authorizer.class.name."
    ),
    "authorizer.class.name": (
        "What decides which requests each client may send: "
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer for ACLs, or empty to let every "
        "client do everything. Ottla refuses other classes. Set it on all nodes."
    ),
    "connections.max.reauth.ms": (
        "Longest time after which a client that authenticated with SASL must do so again, in "
        "milliseconds; 0 is never. Set it for one listener and mechanism with "
        "listener.name.<listener>.<mechanism>."
    ),
    "delegation.token.expiry.check.interval.ms": (
        "How often expired delegation tokens are removed, in milliseconds."
    ),
    "delegation.token.expiry.time.ms": (
        "How long a delegation token is valid unless it is renewed, in milliseconds."
    ),
    "delegation.token.max.lifetime.ms": (
        "Age at which a delegation token can no longer be renewed, in milliseconds."
    ),
    "delegation.token.secret.key": (
        "Key with which delegation tokens are signed. It must be the same on all nodes. Without "
        "it, delegation tokens are disabled."
    ),
    "ottla.audit.log": (
        "File to which the node appends a line of JSON for each authentication and each "
        "authorization decision: who, what, from where, allowed or denied. Empty turns the audit "
        "log off."
    ),
    "ottla.audit.log.bytes.max": (
        "Size at which the node starts a new file of the audit log, in bytes."
    ),
    "ottla.audit.log.files.max": (
        "Number of files of the audit log that the node keeps; it deletes the oldest."
    ),
    "ottla.tenant.listeners": (
        "Listeners of tenants, as LISTENER:TENANT, separated by commas. A client on such a "
        "listener sees only what the tenant has, without its prefix. With * as the tenant, the "
        "client's user decides: acme.alice is a user of the tenant acme."
    ),
    "ottla.pre.auth.timeout.ms": (
        "The node closes a connection that has not finished the TLS handshake and SASL "
        "authentication after this time, in milliseconds."
    ),
    "principal.builder.class": (
        "Java class that derives the name of a client from its connection "
        "(`KafkaPrincipalBuilder`)."
    ),
    "security.providers": "Java classes that add security algorithms.",
    "super.users": (
        "Principals that may do everything, separated by semicolons, such as "
        "User:admin;User:broker. It needs authorizer.class.name. Brokers and controllers must be "
        "super users or have ACLs."
    ),
}
