"""Reads and writes the format of `java.util.Properties`, used by Kafka's properties files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

# A key ends at the first unescaped '=', ':' or white space.
_LINE: Final = re.compile(
    r"(?P<key>(?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(?P<value>.*)", re.DOTALL
)
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_MEANINGS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED: Final = {ord(char): f"\\{char}" for char in "\\=:#!"} | {
    ord(char): f"\\{name}" for name, char in _MEANINGS.items()
}


def format_properties(properties: Mapping[str, str]) -> str:
    """One line for each property, sorted by key, so that equal properties have equal files."""
    return "".join(
        f"{_escape_key(key)}={_escape_value(value)}\n" for key, value in sorted(properties.items())
    )


def parse_properties(text: str) -> dict[str, str]:
    """Never fails: Java accepts every line."""
    properties = {}
    for line in _logical_lines(text):
        match = _LINE.fullmatch(line)
        assert match is not None, "the pattern takes any line"
        properties[_unescape(match["key"])] = _unescape(match["value"])
    return properties


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments; a line that ends in a backslash is joined with the next one."""
    joined = ""
    for natural in re.split(r"\r\n|\r|\n", text):
        line = natural.lstrip(" \t\f")
        if not joined and (not line or line[0] in "#!"):
            continue
        joined += line
        if (len(joined) - len(joined.rstrip("\\"))) % 2:
            joined = joined[:-1]
            continue
        yield joined
        joined = ""
    if joined:
        yield joined


def _escape_key(key: str) -> str:
    return key.translate(_ESCAPED).replace(" ", "\\ ")


def _escape_value(value: str) -> str:
    escaped = value.translate(_ESCAPED)
    # Java strips white space before a value, so a leading space is escaped.
    return f"\\{escaped}" if escaped.startswith(" ") else escaped


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_meaning, text)


def _meaning(match: re.Match[str]) -> str:
    escape = match[1]
    if len(escape) == 5:
        return chr(int(escape[1:], 16))
    return _MEANINGS.get(escape, escape)
