"""How a client authenticates: `sasl.jaas.config`, or librdkafka's user name and password."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ottla.client_security.bearer_token import (
    CLIENT_ID,
    CLIENT_SECRET,
    SCOPE,
    TOKEN_URL,
    BearerTokenSource,
)
from ottla.client_security.errors import ClientPropertyError
from ottla.configs.value import Password
from ottla.security.jaas import JaasEntry, parse_jaas
from ottla.security.sasl.mechanism import Mechanism

JAAS: Final = "sasl.jaas.config"
MECHANISM: Final = "sasl.mechanism"
USERNAME: Final = "sasl.username"
PASSWORD: Final = "sasl.password"  # noqa: S105 - the name
_TOKEN_AUTHENTICATION: Final = "tokenauth"  # noqa: S105 - the name
_HANDLER: Final = "sasl.login.callback.handler.class"
_KERBEROS: Final = "GSSAPI"
_SCRAM: Final = (Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512)
_MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "PlainLoginModule": (Mechanism.PLAIN,),
    "ScramLoginModule": _SCRAM,
    "OAuthBearerLoginModule": (Mechanism.OAUTHBEARER,),
}
_OPTIONS: Final[Mapping[str, frozenset[str]]] = {
    "PlainLoginModule": frozenset({"username", "password"}),
    "ScramLoginModule": frozenset({"username", "password", _TOKEN_AUTHENTICATION}),
    "OAuthBearerLoginModule": frozenset({"clientId", "clientSecret", "scope"}),
}
_OF_BEARER: Final = (TOKEN_URL, CLIENT_ID, CLIENT_SECRET, SCOPE)


@dataclass(frozen=True, slots=True)
class SaslLogin:
    """`properties` have librdkafka's names."""

    properties: Mapping[str, str] = field(repr=False)
    is_token: bool = False
    bearer: BearerTokenSource | None = None


def login_properties(given: Mapping[str, str], *, has_sasl: bool) -> SaslLogin | None:
    """None without SASL. Raises ClientPropertyError for properties that contradict each other."""
    if not has_sasl:
        for name in given:
            if name.startswith("sasl."):
                raise _usage(
                    f"{name} has no effect without SASL.",
                    f"Write security.protocol=SASL_SSL, or leave {name} out.",
                )
        return None
    mechanism = _mechanism(given)
    entry = _entry(given, mechanism)
    if mechanism == Mechanism.OAUTHBEARER:
        return _bearer_login(given, entry)
    for name in _OF_BEARER:
        if name in given:
            raise _usage(
                f"{name} needs sasl.mechanism=OAUTHBEARER, but sasl.mechanism is {mechanism}."
            )
    if mechanism == _KERBEROS:
        return SaslLogin({MECHANISM: mechanism})
    return _password_login(given, mechanism, entry)


def _mechanism(given: Mapping[str, str]) -> str:
    aliases = [name for name in (MECHANISM, "sasl.mechanisms") if name in given]
    if len(aliases) > 1:
        raise _usage("sasl.mechanism and sasl.mechanisms set the same thing: leave one out.")
    choice = ", ".join(Mechanism)
    if not aliases:
        raise _usage("sasl.mechanism is missing.", f"Write one of {choice}.")
    mechanism = given[aliases[0]]
    if mechanism not in (*Mechanism, _KERBEROS):
        raise _usage(f"{aliases[0]} {mechanism!r} must be one of {choice}.")
    return mechanism


def _entry(given: Mapping[str, str], mechanism: str) -> JaasEntry | None:
    if JAAS not in given:
        return None
    for name in (USERNAME, PASSWORD):
        if name in given:
            raise _usage(f"{JAAS} and {name} set the same thing: leave one of them out.")
    try:
        entry = parse_jaas(given[JAAS])
    except ValueError as error:
        raise _usage(f"{error}.") from None
    module = entry.module_name
    if module not in _MODULES:
        raise _usage(
            f"{JAAS} has the login module {module}, which is not supported.",
            f"Write one of {', '.join(_MODULES)} (in org.apache.kafka.common.security).",
        )
    if mechanism not in _MODULES[module]:
        raise _usage(
            f"{JAAS} has {module}, but sasl.mechanism is {mechanism}.",
            f"{module} is for {' and '.join(_MODULES[module])}.",
        )
    if unknown := sorted(set(entry.options) - _OPTIONS[module]):
        known = ", ".join(sorted(_OPTIONS[module]))
        raise _usage(f"{JAAS} has the option {unknown[0]}; a client's {module} has {known}.")
    return entry


def _password_login(given: Mapping[str, str], mechanism: str, entry: JaasEntry | None) -> SaslLogin:
    if entry is None:
        name, password = given.get(USERNAME, ""), given.get(PASSWORD, "")
        is_token = False
    else:
        name, password = entry.options.get("username", ""), entry.options.get("password", "")
        is_token = entry.options.get(_TOKEN_AUTHENTICATION, "").lower() == "true"
    if not name or not password:
        missing = "user name" if not name else "password"
        raise _usage(
            f"{mechanism} needs a user name and a password, but there is no {missing}.",
            f'Write {JAAS} with username="..." and password="...", or {USERNAME} and {PASSWORD}.',
        )
    return SaslLogin({MECHANISM: mechanism, USERNAME: name, PASSWORD: password}, is_token)


def _bearer_login(given: Mapping[str, str], entry: JaasEntry | None) -> SaslLogin:
    """librdkafka's own ways to a token are left to it; Kafka's are the file and the endpoint."""
    handler = given.get(_HANDLER, "")
    if handler and not handler.endswith(".OAuthBearerLoginCallbackHandler"):
        raise _usage(
            f"{_HANDLER} names a Java class that cannot be loaded here.",
            f"Leave it out, and name a token's file or endpoint with {TOKEN_URL}.",
        )
    is_librdkafkas = any(
        name in given for name in ("sasl.oauthbearer.method", "sasl.oauthbearer.config")
    )
    if is_librdkafkas:
        own = {name: given[name] for name in _OF_BEARER if name in given}
        return SaslLogin({MECHANISM: Mechanism.OAUTHBEARER, **own})
    options = {} if entry is None else entry.options
    if TOKEN_URL not in given:
        raise _usage(
            f"OAUTHBEARER needs {TOKEN_URL}.",
            "Write file:///PATH of a file with a token, or the https URL of a token endpoint.",
        )
    secret = given.get(CLIENT_SECRET) or options.get("clientSecret")
    source = BearerTokenSource.parse(
        given[TOKEN_URL],
        client_id=given.get(CLIENT_ID) or options.get("clientId"),
        client_secret=None if secret is None else Password(secret),
        scope=given.get(SCOPE) or options.get("scope"),
    )
    return SaslLogin({MECHANISM: Mechanism.OAUTHBEARER}, bearer=source)


def _usage(message: str, *hints: str) -> ClientPropertyError:
    return ClientPropertyError(message, *hints)
