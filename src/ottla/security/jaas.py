"""Parses `sasl.jaas.config`: one login module with its options, in the format of Java's JAAS files.

    org.apache.kafka.common.security.plain.PlainLoginModule required
        username="alice" password="alice's password";

The rules are those of Kafka's own parser, which splits the text with Java's StreamTokenizer: words
contain letters, digits and `.-_$`, everything else is quoted; `/` begins a comment. Errors say
where the text is wrong and never contain any of it, because it contains passwords.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

_CONTROL_FLAGS: Final = frozenset({"required", "requisite", "sufficient", "optional"})
_TOKENS: Final = re.compile(
    r"""(?P<blank>[\x00-\x20]+ | /\*.*?\*/ | /[^\n\r*][^\n\r]* | /(?=[\n\r]|$))
    | (?P<word>[A-Za-z_$\xa0-\uffff][A-Za-z0-9_$.\xa0-\uffff-]*)
    | (?P<quoted>"(?:[^"\\\n\r]|\\[^\n\r])*" | '(?:[^'\\\n\r]|\\[^\n\r])*')
    | (?P<sign>[=;])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL)
_ESCAPED: Final = {
    "a": "\x07",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}


@dataclass(frozen=True, slots=True)
class JaasEntry:
    """A login module, by the name of its Java class, and its options, which may be secrets."""

    login_module: str
    options: dict[str, str] = field(repr=False)

    @property
    def module_name(self) -> str:
        """The class without its package, such as `PlainLoginModule`."""
        return self.login_module.rpartition(".")[2]


class _Token(NamedTuple):
    # "text", "=", ";" or "" at the end.
    kind: str
    text: str
    position: int


def parse_jaas(text: str) -> JaasEntry:
    """Raises a ValueError unless the text has exactly one login module."""
    tokens = _tokens(text)
    module = tokens.pop(0)
    if module.kind != "text" or not module.text:
        raise _invalid(module, "write the class of a login module")
    flag = tokens.pop(0)
    if flag.kind != "text" or flag.text.lower() not in _CONTROL_FLAGS:
        raise _invalid(flag, "write `required` after the login module")
    options: dict[str, str] = {}
    while tokens[0].kind == "text":
        name, equals, value = tokens.pop(0), tokens.pop(0), tokens.pop(0)
        if equals.kind != "=" or value.kind != "text":
            raise _invalid(name, 'write each option as name="value"')
        options[name.text] = value.text
    if tokens[0].kind != ";":
        raise _invalid(tokens[0], "write a semicolon after the last option")
    if tokens[1].kind:
        raise _invalid(tokens[1], "write one login module, and nothing after its semicolon")
    return JaasEntry(module.text, options)


def _tokens(text: str) -> list[_Token]:
    """The tokens, followed by as many ends as a parser may look ahead."""
    tokens: list[_Token] = []
    position = 0
    while position < len(text):
        match = _TOKENS.match(text, position)
        if match is None:
            raise _invalid(_Token("", "", position), "quote what is not a letter or digit")
        found = match.group()
        if match.lastgroup == "word":
            tokens.append(_Token("text", found, position))
        elif match.lastgroup == "quoted":
            tokens.append(_Token("text", _ESCAPE.sub(_unescaped, found[1:-1]), position))
        elif match.lastgroup == "sign":
            tokens.append(_Token(found, found, position))
        position = match.end()
    return [*tokens, *[_Token("", "", len(text))] * 3]


def _unescaped(match: re.Match[str]) -> str:
    escaped = match.group(1)
    if escaped[0] in "01234567":
        return chr(int(escaped, 8))
    return _ESCAPED.get(escaped, escaped)


def _invalid(token: _Token, advice: str) -> ValueError:
    return ValueError(f"sasl.jaas.config is wrong at character {token.position + 1}: {advice}")
