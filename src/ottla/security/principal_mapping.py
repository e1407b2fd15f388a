"""Maps the distinguished name of a client certificate to a principal's name, by the rules of
`ssl.principal.mapping.rules` (KIP-371).

    RULE:^CN=(.*?),OU=Apps.*$/$1/L, DEFAULT

The rules are tried in their order. A `RULE:pattern/replacement/[LU]` whose pattern matches the
whole name replaces it; L and U change the case. DEFAULT keeps the name.

Patterns are Python's regular expressions, which have nearly everything that Java's have; a pattern
that Python cannot compile is refused when the rules are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ottla.security.sasl.mechanism import AuthenticationError

_RULE: Final = re.compile(
    r"\s*(?:(?P<default>DEFAULT)"
    r"|RULE:(?P<pattern>(?:\\.|[^\\/])*)/(?P<replacement>(?:\\.|[^\\/])*)/(?P<case>[LU]?)"
    r"|(?P<empty>))\s*(?:,|$)",
    re.DOTALL,
)
_REFERENCE: Final = re.compile(r"\\(.)|\$([0-9]+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PrincipalRule:
    """One rule. DEFAULT has no pattern."""

    pattern: re.Pattern[str] | None
    replacement: str
    case: str

    def apply(self, name: str) -> str | None:
        """The new name; None if the rule does not match."""
        if self.pattern is None:
            return name
        if self.pattern.fullmatch(name) is None:
            return None
        mapped = self.pattern.sub(self._expanded, name)
        if self.case == "L":
            return mapped.lower()
        return mapped.upper() if self.case == "U" else mapped

    def _expanded(self, match: re.Match[str]) -> str:
        groups = match.re.groups

        def expand(reference: re.Match[str]) -> str:
            escaped, digits = reference.groups()
            if digits is None:
                return str(escaped)
            # As in Java, $12 is group 1 and the digit 2 where there is no group 12.
            known = len(digits)
            while known > 1 and int(digits[:known]) > groups:
                known -= 1
            if int(digits[:known]) > groups:
                return reference.group()
            return (match.group(int(digits[:known])) or "") + digits[known:]

        return _REFERENCE.sub(expand, self.replacement)


@dataclass(frozen=True, slots=True)
class PrincipalMapping:
    """All rules of a listener."""

    rules: tuple[PrincipalRule, ...]

    @classmethod
    def parse(cls, text: str) -> PrincipalMapping:
        """Raises a ValueError that names the rule."""
        text = text.strip()
        rules: list[PrincipalRule] = []
        position = 0
        while position < len(text):
            match = _RULE.match(text, position)
            if match is None:
                raise ValueError(
                    f"ssl.principal.mapping.rules: {text[position:]!r} is neither DEFAULT nor "
                    "RULE:pattern/replacement/, optionally followed by L or U"
                )
            if match.group("empty") is None:
                rules.append(_rule(match))
            position = match.end()
        return cls(tuple(rules))

    def name_of(self, distinguished_name: str) -> str:
        """The principal's name. Raises an AuthenticationError if no rule matches."""
        for rule in self.rules:
            name = rule.apply(distinguished_name)
            if name is not None:
                return name
        raise AuthenticationError(
            "no rule of ssl.principal.mapping.rules matches the name of the client certificate",
            reason=f"no rule of ssl.principal.mapping.rules matches {distinguished_name}",
        )


def _rule(match: re.Match[str]) -> PrincipalRule:
    if match.group("default") is not None:
        return PrincipalRule(None, "", "")
    try:
        pattern = re.compile(match.group("pattern"))
    except re.error as error:
        raise ValueError(
            f"ssl.principal.mapping.rules: the pattern {match.group('pattern')!r} is not a regular "
            f"expression that Ottla supports: {error}"
        ) from None
    return PrincipalRule(pattern, match.group("replacement"), match.group("case"))
