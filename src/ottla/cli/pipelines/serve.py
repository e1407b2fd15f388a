"""`ottla pipelines serve`: one supervisor until a signal stops it."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import typer

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.connection.cluster_access import ClusterAccess, resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.pipelines.choice import require_spark
from ottla.client.errors import ClientError, ConfigError
from ottla.client_security.property_names import is_of_security
from ottla.runtime.log_text import LogFormatter
from ottla.runtime.system_loop import run
from ottla.security.sasl.mechanism import Mechanism
from ottla.web.service.listening import HttpTls, ListenAddress, ListenError

if TYPE_CHECKING:
    from ottla.web.supervisor.running.child_process import ChildSettings

_FORMAT: Final = "%(asctime)s %(levelname)-7s %(message)s"
_EXTRA: Final = "ottla[web]"
_MECHANISM: Final = "sasl.mechanism"


class ServeOptions(NamedTuple):
    directory: Path
    checkpoints: Path | None
    logs: Path | None
    listen: str
    advertise: str | None
    topic: str
    group: str
    master: str
    configs: Sequence[str]
    authentication: str
    tls_certificate: Path | None
    tls_key: Path | None
    tls_client_ca: Path | None
    peer_ca: Path | None
    verbose: bool


def run_supervisor(cluster: ClusterOptions, options: ServeOptions) -> None:
    """Raises CommandError."""
    _log_to_stderr(verbose=options.verbose)
    require_spark()
    if not options.directory.is_dir():
        raise CommandError(
            f"{options.directory} is not a directory.",
            "Name the directory of the definitions with --dir.",
            exit_code=ExitCode.USAGE,
        )
    access = resolve(cluster)
    try:
        run(_serve(access, cluster, options))
    except (ListenError, ConfigError) as error:
        raise CommandError(str(error), exit_code=ExitCode.USAGE) from None
    except ClientError as error:
        raise CommandError(
            f"Cannot use the cluster at {access.bootstrap}: {error}", exit_code=ExitCode.UNREACHABLE
        ) from None


async def _serve(access: ClusterAccess, cluster: ClusterOptions, options: ServeOptions) -> None:
    try:
        from ottla.web.supervisor.supervisor import PipelineSupervisor, SupervisorSettings
    except ModuleNotFoundError as error:
        raise CommandError(
            f"This command needs the package {error.name}, which is not installed.",
            f"Install it with: pip install '{_EXTRA}'",
            exit_code=ExitCode.USAGE,
        ) from None
    security = {name: value for name, value in access.properties.items() if is_of_security(name)}
    advertise = None if options.advertise is None else ListenAddress.parse(options.advertise)
    supervisor = PipelineSupervisor(
        SupervisorSettings(
            listen=ListenAddress.parse(options.listen),
            advertise=advertise,
            children=_children(access, cluster, options),
            properties={"bootstrap.servers": access.bootstrap, **security},
            tls=_tls(options),
            peer_ca=options.peer_ca,
            logs_in=_mechanism(options.authentication, security),
            topic=options.topic,
            group_id=options.group,
        )
    )
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    try:
        address = await supervisor.start()
        scheme = "http" if options.tls_certificate is None else "https"
        count = len(supervisor.topic.table.deployments)
        what = "1 pipeline" if count == 1 else f"{count} pipelines"
        typer.echo(f"Ready on {scheme}://{address} (supervisor of {what})")
        await stopping.wait()
    finally:
        await supervisor.close()


def _children(
    access: ClusterAccess, cluster: ClusterOptions, options: ServeOptions
) -> ChildSettings:
    from ottla.web.supervisor.running.child_process import ChildSettings

    for name, _ in parse_name_values(options.configs, what="--conf"):
        if not name.startswith("spark."):
            raise ListenError(f"--conf {name}: the names of Spark's settings begin with spark.")
    arguments = ["--bootstrap-server", access.bootstrap, "--master", options.master]
    # As they were given to the supervisor: the passwords of a file stay in that file.
    if cluster.command_config is not None:
        arguments += ["--command-config", str(cluster.command_config.absolute())]
    if cluster.profile is not None:
        arguments += ["--profile", cluster.profile]
    for each in cluster.properties:
        arguments += ["-X", each]
    for conf in options.configs:
        arguments += ["--conf", conf]
    directory = options.directory.absolute()
    return ChildSettings(
        definitions=directory,
        checkpoints=(options.checkpoints or directory / "checkpoints").absolute(),
        logs=(options.logs or directory / "logs").absolute(),
        arguments=tuple(arguments),
    )


def _tls(options: ServeOptions) -> HttpTls | None:
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
    # A supervisor that has a token itself may serve callers with passwords.
    return Mechanism.PLAIN if named == Mechanism.OAUTHBEARER else Mechanism(named)


def _log_to_stderr(*, verbose: bool) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(LogFormatter(_FORMAT))
    logging.basicConfig(level=logging.DEBUG if verbose else logging.INFO, handlers=[handler])
    for name in ("asyncio", "uvicorn"):
        logging.getLogger(name).setLevel(logging.WARNING)
