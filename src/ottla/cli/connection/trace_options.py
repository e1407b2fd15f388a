"""The options by which a program that serves HTTP exports traces."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ottla.cli.exit_codes import CommandError, ExitCode

if TYPE_CHECKING:
    from ottla.web.service.web_traces import TraceSettings

_PANEL: Final = "Traces"

OtlpEndpointOption = Annotated[
    str | None,
    typer.Option(
        "--otlp-endpoint",
        metavar="URL",
        help="Send a span for each request to this OpenTelemetry collector, with OTLP over HTTP, "
        "such as http://127.0.0.1:4318. Headers: OTEL_EXPORTER_OTLP_HEADERS.",
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
        help="Fraction of the traces that begin here to record. Callers with a traceparent header "
        "decide on their own.",
        rich_help_panel=_PANEL,
    ),
]


def trace_settings(endpoint: str | None, ratio: float) -> TraceSettings | None:
    """Raises CommandError."""
    if endpoint is None:
        return None
    from ottla.configs.errors import InvalidConfigError
    from ottla.configs.otlp_endpoint import parse_otlp_endpoint
    from ottla.configs.value import Password
    from ottla.web.service.web_traces import HEADERS_VARIABLE, TRACES_ENDPOINT, TraceSettings

    headers = os.environ.get(HEADERS_VARIABLE)
    try:
        found = parse_otlp_endpoint(
            endpoint, None if headers is None else Password(headers), TRACES_ENDPOINT
        )
    except InvalidConfigError as error:
        raise CommandError(f"{error}.", exit_code=ExitCode.USAGE) from None
    return None if found is None else TraceSettings(found, ratio)
