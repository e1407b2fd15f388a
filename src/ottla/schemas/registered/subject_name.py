"""Names of subjects, which may be in a context: `:.context:subject`.

The default context is `.`, and its subjects have plain names. `:.__GLOBAL:` is the context of
settings for all contexts, and `:*:` stands for all contexts in queries.
"""

from __future__ import annotations

from typing import Final, NamedTuple

DEFAULT_CONTEXT: Final = "."
GLOBAL_CONTEXT: Final = ".__GLOBAL"
ALL_CONTEXTS: Final = ":*:"
_PREFIX: Final = ":."
_RESERVED: Final = ("__GLOBAL", "__EMPTY")


class SubjectName(NamedTuple):
    """`context` begins with a dot, or is `*`."""

    context: str
    subject: str

    @classmethod
    def parse(cls, text: str) -> SubjectName:
        if text.startswith(_PREFIX):
            context, _, subject = text[1:].partition(":")
            return cls(context, subject)
        if text.startswith(ALL_CONTEXTS):
            return cls("*", text.removeprefix(ALL_CONTEXTS))
        return cls(DEFAULT_CONTEXT, text)

    @property
    def text(self) -> str:
        return qualified(self.context, self.subject)

    @property
    def is_in_default_context(self) -> bool:
        return self.context == DEFAULT_CONTEXT

    @property
    def is_valid(self) -> bool:
        """Whether schemas can be registered under it."""
        return self.is_valid_for_settings and bool(self.subject) and self.context != GLOBAL_CONTEXT

    @property
    def is_valid_for_settings(self) -> bool:
        has_control = any(ord(char) < 32 or 127 <= ord(char) < 160 for char in self.subject)
        return not has_control and self.subject not in _RESERVED


def qualified(context: str, subject: str) -> str:
    return subject if context == DEFAULT_CONTEXT else f":{context}:{subject}"


def normal_subject(text: str) -> str:
    """`:.:subject` and `:.` are names in the default context."""
    return SubjectName.parse(text).text


def normal_context(text: str) -> str:
    """A context as people write it, with or without its dot and colons."""
    name = text.strip(":")
    return name if name.startswith(".") else f".{name}"


def beside(parent: str, subject: str) -> str:
    """A subject that is named without a context is in the context of the one that names it."""
    if subject.startswith(_PREFIX):
        return normal_subject(subject)
    return qualified(SubjectName.parse(parent).context, subject)
