"""What the broker configs mean: authentication by SASL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SASL_TEXTS: Final[Mapping[str, str]] = {
    "sasl.client.callback.handler.class": (
        "Java class that provides the credentials when the node connects as a SASL client."
    ),
    "sasl.enabled.mechanisms": (
        "SASL mechanisms that clients may use: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER. "
        "A SASL listener needs it, because Ottla does not support Kafka's default GSSAPI."
    ),
    "sasl.jaas.config": (
        "Login module and its options, in the format of JAAS files: the users of PLAIN, and the "
        "user name and password with which this node connects to other nodes. Set it as "
        "listener.name.<listener>.<mechanism>.sasl.jaas.config; without this prefix it has no "
        "effect."
    ),
    "sasl.kerberos.kinit.cmd": "Path of the kinit command of Kerberos.",
    "sasl.kerberos.min.time.before.relogin": (
        "Shortest time between two Kerberos logins, in milliseconds."
    ),
    "sasl.kerberos.principal.to.local.rules": (
        "Rules that turn a Kerberos principal into a user name."
    ),
    "sasl.kerberos.service.name": "Kerberos service name under which brokers are known.",
    "sasl.kerberos.ticket.renew.jitter": (
        "Random part of the time until a Kerberos ticket is renewed."
    ),
    "sasl.kerberos.ticket.renew.window.factor": (
        "Part of a Kerberos ticket's lifetime after which it is renewed."
    ),
    "sasl.login.callback.handler.class": (
        "Java class that provides the credentials for a SASL login."
    ),
    "sasl.login.class": "Java class that performs a SASL login.",
    "sasl.login.connect.timeout.ms": (
        "Connect timeout of the connection to the OAuth server, in milliseconds."
    ),
    "sasl.login.read.timeout.ms": (
        "Read timeout of the connection to the OAuth server, in milliseconds."
    ),
    "sasl.login.refresh.buffer.seconds": (
        "How long before its expiry a credential is refreshed at the latest, in seconds."
    ),
    "sasl.login.refresh.min.period.seconds": (
        "Shortest time between two refreshes of a credential, in seconds."
    ),
    "sasl.login.refresh.window.factor": (
        "Part of a credential's lifetime after which it is refreshed."
    ),
    "sasl.login.refresh.window.jitter": "Random part of the time until a credential is refreshed.",
    "sasl.login.retry.backoff.max.ms": (
        "Longest wait before a failed request to the OAuth server is repeated, in milliseconds."
    ),
    "sasl.login.retry.backoff.ms": (
        "First wait before a failed request to the OAuth server is repeated, in milliseconds."
    ),
    "sasl.mechanism.controller.protocol": (
        "SASL mechanism with which nodes connect to controllers. It must be in the "
        "sasl.enabled.mechanisms of the controller listener."
    ),
    "sasl.mechanism.inter.broker.protocol": (
        "SASL mechanism with which brokers connect to each other. It must be in the "
        "sasl.enabled.mechanisms of the listener between brokers."
    ),
    "sasl.server.callback.handler.class": (
        "Java class that verifies the credentials of SASL clients."
    ),
    "sasl.server.max.receive.size": (
        "Largest request that the node accepts before a client is authenticated, in bytes."
    ),
}
