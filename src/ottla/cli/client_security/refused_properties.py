"""Ends a command whose client properties cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.errors import ConfigError
from ottla.client_security.errors import ClientPropertyError, NoTokenError


@contextmanager
def refused_properties() -> Iterator[None]:
    """Raises CommandError for a ClientPropertyError or a ConfigError."""
    try:
        yield
    except ConfigError as error:
        raise CommandError(error.message, *error.hints, exit_code=ExitCode.USAGE) from None
    except ClientPropertyError as error:
        is_answer_missing = isinstance(error, NoTokenError)
        exit_code = ExitCode.UNREACHABLE if is_answer_missing else ExitCode.USAGE
        raise CommandError(error.message, *error.hints, exit_code=exit_code) from None
