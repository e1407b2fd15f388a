"""The options by which a program exports traces."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ottla.cli.exit_codes import CommandError, ExitCode

if TYPE_CHECKING:
    from ottla.configs.otlp_endpoint import OtlpEndpoint
    from ottla.web.service.web_traces import TraceSettings

_PANEL: Final = "Traces"
# As OpenTelemetry calls the variable: a command line is no place for a token.
_HEADERS: Final = "OTEL_EXPORTER_OTLP_HEADERS"

OtlpEndpointOption = Annotated[
    str | None,
    typer.Option(
        "--otlp-endpoint",
        metavar="URL",
        help="Send a span for each request or batch to this OpenTelemetry collector, with OTLP "
        "over HTTP, such as http://127.0.0.1:4318. Headers: OTEL_EXPORTER_OTLP_HEADERS.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
TraceRatioOption = Annotated[
    float,
    typer.Option(
        "--trace-ratio",
        metavar="NUMBER",
        min=0.0,
        max=1.0,
        help="Fraction of the traces that begin here and are recorded. For requests with a "
        "traceparent header, its flag decides.",
        rich_help_panel=_PANEL,
    ),
]


def traces_endpoint(text: str) -> OtlpEndpoint:
    """Raises CommandError."""
    from ottla.configs.errors import InvalidConfigError
    from ottla.configs.otlp_endpoint import OtlpSetting, parse_otlp_endpoint
    from ottla.configs.value import Password

    given = os.environ.get(_HEADERS)
    headers = None if given is None else Password(given)
    setting = OtlpSetting("--otlp-endpoint", _HEADERS, "/v1/traces")
    try:
        found = parse_otlp_endpoint(text, headers, setting)
    except InvalidConfigError as error:
        raise CommandError(f"{error}.", exit_code=ExitCode.USAGE) from None
    if found is None:
        raise CommandError("--otlp-endpoint is empty.", exit_code=ExitCode.USAGE)
    return found


def trace_settings(endpoint: str | None, ratio: float) -> TraceSettings | None:
    """Of a program that serves HTTP. Raises CommandError."""
    if endpoint is None:
        return None
    from ottla.web.service.web_traces import TraceSettings

    return TraceSettings(traces_endpoint(endpoint), ratio)
