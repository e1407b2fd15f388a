"""The options of `ottla gateway`, and the settings that they are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.connection.cluster_access import ClusterAccess
from ottla.cli.connection.trace_options import trace_settings
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.gateway.registry_options import registry_access
from ottla.client_security.property_names import is_of_security
from ottla.security.principal_mapping import PrincipalMapping
from ottla.security.sasl.mechanism import Mechanism
from ottla.security.sasl.scram_credential import SCRAM_BY_NAME
from ottla.web.gateway.limits import GatewayLimits
from ottla.web.gateway.server import GatewaySettings
from ottla.web.service.listening import HttpTls, ListenAddress

_NONE: Final = "none"
_CLUSTER: Final = "cluster"


class GatewayOptions(NamedTuple):
    """As they were given."""

    listen: str
    advertise: str | None
    schema_registry: str | None
    schema_registry_config: Path | None
    limits: tuple[str, ...]
    authentication: str
    sasl_mechanism: str
    tls_certificate: Path | None
    tls_key: Path | None
    tls_client_ca: Path | None
    principal_mapping: str
    otlp_endpoint: str | None
    trace_ratio: float

    def settings(self, access: ClusterAccess) -> GatewaySettings:
        """Raises CommandError, or ListenError for the address."""
        properties = {
            name: value for name, value in access.properties.items() if not is_of_security(name)
        }
        if self.authentication not in (_NONE, _CLUSTER):
            raise _usage("--authentication must be none or cluster.")
        return GatewaySettings(
            properties={**properties, "bootstrap.servers": access.bootstrap},
            security=_channel_security(access),
            listen=ListenAddress.parse(self.listen),
            tls=self._tls(),
            authenticates=self.authentication == _CLUSTER,
            mechanism=self._mechanism(),
            mapping=self._mapping(),
            advertised=_url(self.advertise, "--advertise"),
            schema_registry=registry_access(self.schema_registry, self.schema_registry_config),
            tracing=trace_settings(self.otlp_endpoint, self.trace_ratio),
            limits=parse_limits(self.limits),
        )

    def _tls(self) -> HttpTls | None:
        if self.tls_certificate is None and self.tls_key is None:
            if self.tls_client_ca is not None:
                raise _usage("--tls-client-ca needs --tls-certificate and --tls-key.")
            return None
        if self.tls_certificate is None or self.tls_key is None:
            raise _usage("--tls-certificate and --tls-key belong together.")
        return HttpTls(self.tls_certificate, self.tls_key, self.tls_client_ca)

    def _mechanism(self) -> Mechanism:
        allowed = (Mechanism.PLAIN, *map(Mechanism, SCRAM_BY_NAME))
        name = self.sasl_mechanism.upper()
        if name not in allowed:
            raise _usage(f"--sasl-mechanism must be one of {', '.join(allowed)}.")
        return Mechanism(name)

    def _mapping(self) -> PrincipalMapping:
        try:
            return PrincipalMapping.parse(self.principal_mapping)
        except ValueError as error:
            raise _usage(f"--principal-mapping: {error}.") from None


def parse_limits(given: Iterable[str]) -> GatewayLimits:
    """`NAME=NUMBER`; names of sessions and callers have these words in front. Raises
    CommandError."""
    limits = GatewayLimits()
    names = _limit_names(limits)
    for name, text in parse_name_values(tuple(given), what="--limit"):
        if name not in names:
            raise _usage(f"There is no limit {name}.", f"There are {', '.join(sorted(names))}.")
        try:
            value: Any = type(names[name])(text)
        except ValueError:
            raise _usage(f"--limit {name} must be a number.") from None
        if not value > 0:
            raise _usage(f"--limit {name} must be positive.")
        group, dot, rest = name.partition(".")
        if dot:
            inner = getattr(limits, group)
            limits = limits._replace(**{group: inner._replace(**{rest: value})})
        else:
            limits = limits._replace(**{name: value})
    return limits


def _limit_names(limits: GatewayLimits) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in limits._asdict().items():
        if isinstance(value, tuple):
            found |= {f"{name}.{inner}": each for inner, each in value._asdict().items()}  # type: ignore[attr-defined]
        else:
            found[name] = value
    return found


def _channel_security(access: ClusterAccess) -> Any:
    from ottla.cli.client_security.refused_properties import refused_properties
    from ottla.client_security.node_channel import channel_security

    with refused_properties():
        return channel_security(access.security)


def _url(text: str | None, option: str) -> str | None:
    if text is None:
        return None
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise _usage(f"{option} must be an address such as http://127.0.0.1:8082.")
    return text.rstrip("/")


def _usage(message: str, *hints: str) -> CommandError:
    return CommandError(message, *hints, exit_code=ExitCode.USAGE)
