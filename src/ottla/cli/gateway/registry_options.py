"""`--schema-registry URL` and `--schema-registry-config FILE`: where a registry is, and as whom the
gateway calls it."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from ottla.cli.arguments.input_file import unreadable
from ottla.cli.client_security.refused_properties import refused_properties
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.configs.java_properties import parse_properties
from ottla.configs.value import Password
from ottla.runtime.exposed_files import warn_if_readable
from ottla.web.gateway.rest_v2.registry_access import RegistryAccess

# Java's clients have their names with this prefix.
_PREFIX: Final = "schema.registry."
_USER: Final = "basic.auth.user.info"
_TOKEN: Final = "bearer.auth.token"  # noqa: S105 - the name
# They say that the credentials are those of the two above; other sources are not supported.
_SOURCES: Final = {
    "basic.auth.credentials.source": "USER_INFO",
    "bearer.auth.credentials.source": "STATIC_TOKEN",
}
_TLS: Final = "ssl."


def registry_access(url: str | None, config: Path | None) -> RegistryAccess | None:
    """Raises CommandError."""
    if url is None:
        if config is not None:
            raise _usage("--schema-registry-config needs --schema-registry.")
        return None
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise _usage("--schema-registry must be an address such as http://127.0.0.1:8081.")
    url = url.rstrip("/")
    if config is None:
        return RegistryAccess(url)
    given = _read(config)
    tls = {name: value for name, value in given.items() if name.startswith(_TLS)}
    unknown = given.keys() - tls.keys() - {_USER, _TOKEN, *_SOURCES}
    if unknown:
        raise _usage(
            f"{config}: {min(unknown)} is not supported.",
            f"There are {_USER}, {_TOKEN}, and ssl.* as in --command-config.",
        )
    for name, source in _SOURCES.items():
        if given.get(name, source).upper() != source:
            raise _usage(f"{config}: {name} must be {source}.")
    user, token = given.get(_USER), given.get(_TOKEN)
    if user is not None and token is not None:
        raise _usage(f"{config}: {_USER} and {_TOKEN} set the same thing: leave one of them out.")
    name, colon, password = (user or "").partition(":")
    if user is not None and not (name and colon):
        raise _usage(f"{config}: {_USER} must be USER:PASSWORD.")
    if tls and parts.scheme != "https":
        raise _usage(f"{config}: {min(tls)} has no effect, because {parts.scheme}:// has no TLS.")
    return RegistryAccess(
        url,
        username=name or None,
        password=Password(password) if user is not None else None,
        token=None if token is None else Password(token),
        ssl_context=_context(tls) if tls else None,
    )


def _read(path: Path) -> dict[str, str]:
    try:
        properties = parse_properties(path.read_text("latin-1"))
    except OSError as error:
        remedy = "give --schema-registry-config the path of a file with properties"
        raise unreadable(path, error, remedy=remedy) from None
    warn_if_readable(str(path), what="secrets in")
    return {name.removeprefix(_PREFIX): value.strip() for name, value in properties.items()}


def _context(tls: Mapping[str, str]) -> ssl.SSLContext:
    from ottla.client_security.client_security import parse_client_security
    from ottla.client_security.node_channel import tls_context

    with refused_properties():
        return tls_context(parse_client_security({"security.protocol": "SSL", **tls}))


def _usage(message: str, *hints: str) -> CommandError:
    return CommandError(message, *hints, exit_code=ExitCode.USAGE)
