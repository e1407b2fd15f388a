"""The texts in documents, in forms, in the Makefile and in the shell scripts."""

import re

from scripts.words.text import Text

_LEFT_OUT = re.compile(r"^(?: *```.*?^ *```|<!--.*?-->|:::[^\n]*(?:\n    [^\n]*)*)", re.M | re.S)
_BLOCK_OF_CODE = re.compile(r"^ *```[^\n]*\n(.*?)^ *```", re.M | re.S)
_COMMENT = re.compile(r"(?:^|\s)(?:#|--) (.*)$", re.M)
_FORM_TEXT = re.compile(
    r"^[ -]*(?:name|about|description|label|value|site_description): (.*)$", re.M
)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
# Where a block of its own begins: a heading, an item of a list, a row of a table, a quotation.
_BLOCK = re.compile(r"^(?:#+ |\s*[-*+] |\s*\d+\. |\||> )")
_MARK = re.compile(r"^(?:#+|[-*+]|\d+\.|>)\s+")
_RULE = re.compile(r"^[|:\s-]+$")
_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z`\"'*(\[])")
_ECHO = re.compile(r"""\becho (?:-n )?("(?:\$\([^()]*\)|[^"\\]|\\.)*"|'[^']*')""")


def document_texts(markdown: str) -> list[Text]:
    """The sentences, headings, items and rows of a document, and the comments in its code."""
    blocks: list[str] = []
    is_open = False
    for line in _LINK.sub(r"\1", _LEFT_OUT.sub("\n", markdown)).splitlines():
        if not line.strip() or _RULE.match(line):
            is_open = False
        elif is_open and not _BLOCK.match(line):
            blocks[-1] += " " + line.strip()
        else:
            blocks.append(line.strip())
            is_open = not line.startswith(("#", "|"))
    sentences = [each for block in blocks for each in _sentences(block) if each]
    return [Text("doc", each) for each in (*sentences, *_comments(markdown))]


def form_texts(form: str) -> list[Text]:
    """The labels and descriptions in a form for issues or in the configuration of the site."""
    return [Text("doc", each.strip('"')) for each in _FORM_TEXT.findall(form) if " " in each]


def makefile_texts(makefile: str) -> list[Text]:
    """The help of the targets, and what their commands print."""
    helps = re.findall(r"^[a-z-]+:.*? ## (.*)$", makefile, re.M)
    return [Text("make", each) for each in [*helps, *_echoed(makefile)]]


def shell_texts(script: str) -> list[Text]:
    return [Text("make", each) for each in _echoed(script) if not each.startswith("<")]


def _comments(markdown: str) -> list[str]:
    blocks = _BLOCK_OF_CODE.findall(markdown)
    found = [each.strip() for block in blocks for each in _COMMENT.findall(block)]
    return [each for each in found if " " in each]


def _sentences(block: str) -> list[str]:
    if block.startswith("|"):
        return [" | ".join(cell.strip() for cell in block.strip("|").split("|"))]
    return _SENTENCE.split(_MARK.sub("", block))


def _echoed(script: str) -> list[str]:
    return [each[1:-1] for each in _ECHO.findall(script) if " " in each]
