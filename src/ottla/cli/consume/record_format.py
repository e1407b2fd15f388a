"""`ottla consume --format`: formats a record by a template.

%t topic        %o offset       %k key      %K bytes in the key (-1 if there is none)
%p partition    %T timestamp    %v value    %V bytes in the value (-1 if there is none)
%h headers      %% a percent sign           \\n \\t \\r \\\\ \\xHH as in C
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from ottla.cli.consume.output import (
    Encode,
    PrintedRecord,
    Shown,
    TextLine,
    as_bytes,
    as_hexadecimal,
    as_terminal_text,
    headers_text,
    json_of,
)
from ottla.cli.exit_codes import CommandError, ExitCode

Part: TypeAlias = Callable[[PrintedRecord], bytes]

_TOKEN: Final = re.compile(r"%(?P<directive>.?)|\\(?P<escape>x[0-9A-Fa-f]{2}|.?)", re.DOTALL)
_ESCAPES: Final = {"n": b"\n", "t": b"\t", "r": b"\r", "\\": b"\\"}
# kcat's directives that have another name here.
_OF_KCAT: Final = {"s": "%v", "S": "%V"}


class RecordFormat:
    """Formats a record by a template of text and directives."""

    def __init__(self, template: str, encode: Encode) -> None:
        """Raises CommandError for a directive that is not in the list above."""
        self._parts = _parse(template, _directives(encode))

    def __call__(self, record: PrintedRecord) -> bytes:
        return b"".join(part if isinstance(part, bytes) else part(record) for part in self._parts)


def choose_line(
    shown: Shown, template: str | None, *, is_terminal: bool, as_json: bool, as_hex: bool
) -> Part:
    """The formatter for these options. Raises CommandError if they exclude each other."""
    encode = as_hexadecimal if as_hex else as_terminal_text if is_terminal else as_bytes
    if template is None:
        return json_of if as_json else TextLine(shown, encode)
    if as_json or any(shown):
        raise CommandError(
            "--format defines the whole output: leave out --json, --timestamps, --offsets, "
            "--headers and --keys.",
            exit_code=ExitCode.USAGE,
        )
    return RecordFormat(template, encode)


def _parse(template: str, directives: dict[str, Part | bytes]) -> list[Part | bytes]:
    parts: list[Part | bytes] = []
    end = 0
    for token in _TOKEN.finditer(template):
        parts.append(template[end : token.start()].encode())
        end = token.end()
        directive, escape = token["directive"], token["escape"]
        if directive in directives:
            parts.append(directives[directive])
        elif escape in _ESCAPES:
            parts.append(_ESCAPES[escape])
        elif escape is not None and len(escape) == len("xHH"):
            parts.append(bytes.fromhex(escape[1:]))
        else:
            raise _unknown(token[0], directive)
    return [*parts, template[end:].encode()]


def _directives(encode: Encode) -> dict[str, Part | bytes]:
    return {
        "t": lambda record: record.topic.encode(),
        "p": lambda record: b"%d" % record.partition,
        "o": lambda record: b"%d" % record.offset,
        "T": lambda record: b"%d" % record.timestamp,
        "h": lambda record: headers_text(record, encode),
        "k": lambda record: encode(record.key),
        "K": lambda record: _length(record.key),
        "v": lambda record: encode(record.value),
        "V": lambda record: _length(record.value),
        "%": b"%",
    }


def _length(data: bytes | None) -> bytes:
    return b"%d" % (-1 if data is None else len(data))


def _unknown(token: str, directive: str | None) -> CommandError:
    hints = (
        [f"{token} is a directive of kcat: write {_OF_KCAT[directive]} instead."]
        if directive in _OF_KCAT
        else []
    )
    return CommandError(
        f"--format has the unknown directive {token!r}.",
        *hints,
        r"Directives are %t %p %o %k %v %h %T %K %V %% and \n \t \r \\ \xHH.",
        exit_code=ExitCode.USAGE,
    )
