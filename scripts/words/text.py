"""A text that users read, and the lists of them that files hold."""

from collections.abc import Sequence
from typing import NamedTuple


class Text(NamedTuple):
    """One line. Its kind says where users meet it: error, log, help, output, config, doc, api
    (the API reference), make (for contributors), or text if the extraction cannot determine it."""

    kind: str
    words: str


def section(path: str, texts: Sequence[Text]) -> str:
    """A heading and the file's texts, each of them once; nothing if there are none."""
    first: dict[str, Text] = {}
    for text in texts:
        first.setdefault(text.words, text)
    lines = [f"{text.kind:<6} {text.words}" for text in first.values()]
    return "\n".join([f"== {path}", *lines, "\n"]) if lines else ""
