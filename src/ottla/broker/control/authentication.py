"""The outcome of an authentication, for the audit log."""

from __future__ import annotations

from typing import NamedTuple

from ottla.security.principal import Principal


class Authentication(NamedTuple):
    """The outcome of an authentication. `principal` and `failure` exclude each other; `failure`
    contains nothing that the client sent."""

    listener: str
    host: str
    mechanism: str | None
    principal: Principal | None
    failure: str | None = None
