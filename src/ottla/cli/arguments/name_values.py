"""`NAME=VALUE` in options and arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ottla.cli.exit_codes import CommandError, ExitCode


def parse_name_values(texts: Iterable[str], *, what: str) -> Iterator[tuple[str, str]]:
    """Splits each text at its first =; values may contain more of them."""
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise CommandError(
                f"{what} {text!r} is not of the form NAME=VALUE.", exit_code=ExitCode.USAGE
            )
        yield name, value
