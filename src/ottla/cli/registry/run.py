"""Runs one instance of the registry until a signal stops it."""

from __future__ import annotations

import asyncio
import logging
import signal
from pathlib import Path
from typing import Final, NamedTuple

import typer

from ottla.cli.connection.cluster_access import ClusterAccess, resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.trace_options import trace_settings
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.errors import ClientError, ConfigError
from ottla.client_security.property_names import is_of_security
from ottla.runtime.log_text import LogFormatter
from ottla.runtime.system_loop import run
from ottla.security.sasl.mechanism import Mechanism
from ottla.web.service.listening import HttpTls, ListenAddress, ListenError

_FORMAT: Final = "%(asctime)s %(levelname)-7s %(message)s"
_EXTRA: Final = "ottla[web]"
_MECHANISM: Final = "sasl.mechanism"


class RegistryOptions(NamedTuple):
    listen: str
    advertise: str | None
    topic: str
    group: str
    authentication: str
    tls_certificate: Path | None
    tls_key: Path | None
    tls_client_ca: Path | None
    peer_ca: Path | None
    otlp_endpoint: str | None
    trace_ratio: float
    verbose: bool


def run_registry(cluster: ClusterOptions, options: RegistryOptions) -> None:
    """Raises CommandError."""
    _log_to_stderr(verbose=options.verbose)
    access = resolve(cluster)
    try:
        run(_serve(access, options))
    except (ListenError, ConfigError) as error:
        raise CommandError(str(error), exit_code=ExitCode.USAGE) from None
    except ClientError as error:
        raise CommandError(
            f"Cannot use the cluster at {access.bootstrap}: {error}", exit_code=ExitCode.UNREACHABLE
        ) from None


async def _serve(access: ClusterAccess, options: RegistryOptions) -> None:
    try:
        from ottla.web.registry.registry import RegistrySettings, SchemaRegistry
    except ModuleNotFoundError as error:
        raise CommandError(
            f"This command needs the package {error.name}, which is not installed.",
            f"Install it with: pip install '{_EXTRA}'",
            exit_code=ExitCode.USAGE,
        ) from None
    security = {name: value for name, value in access.properties.items() if is_of_security(name)}
    advertise = None if options.advertise is None else ListenAddress.parse(options.advertise)
    registry = SchemaRegistry(
        RegistrySettings(
            listen=ListenAddress.parse(options.listen),
            advertise=advertise,
            properties={"bootstrap.servers": access.bootstrap, **security},
            tls=_tls(options),
            peer_ca=options.peer_ca,
            logs_in=_mechanism(options.authentication, security),
            topic=options.topic,
            group_id=options.group,
            tracing=trace_settings(options.otlp_endpoint, options.trace_ratio),
        )
    )
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    try:
        address = await registry.start()
        scheme = "http" if options.tls_certificate is None else "https"
        typer.echo(
            f"Ready on {scheme}://{address} (registry of {access.bootstrap}, "
            f"{len(list(registry.state.subjects()))} subjects)"
        )
        await stopping.wait()
    finally:
        await registry.close()


def _tls(options: RegistryOptions) -> HttpTls | None:
    if options.tls_certificate is None and options.tls_client_ca is None:
        return None
    if options.tls_certificate is None or options.tls_key is None:
        raise ListenError("TLS needs --tls-certificate and --tls-key")
    for file in (options.tls_certificate, options.tls_key, options.tls_client_ca, options.peer_ca):
        if file is not None and not file.exists():
            raise ListenError(f"{file} does not exist")
    return HttpTls(options.tls_certificate, options.tls_key, options.tls_client_ca)


def _mechanism(authentication: str, security: dict[str, str]) -> Mechanism | None:
    if authentication == "none":
        return None
    if authentication != "cluster":
        raise ListenError(f"--authentication is none or cluster, not {authentication!r}")
    if not security.get("security.protocol", "").upper().startswith("SASL"):
        raise ListenError(
            "--authentication cluster needs a cluster with SASL: name it with --command-config"
        )
    named = security.get(_MECHANISM, Mechanism.PLAIN)
    # A registry that has a token itself may serve callers with passwords.
    return Mechanism.PLAIN if named == Mechanism.OAUTHBEARER else Mechanism(named)


def _log_to_stderr(*, verbose: bool) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(LogFormatter(_FORMAT))
    logging.basicConfig(level=logging.DEBUG if verbose else logging.INFO, handlers=[handler])
    # What they log at this level is for debugging them.
    for name in ("asyncio", "uvicorn"):
        logging.getLogger(name).setLevel(logging.WARNING)
