"""The texts in a module of Python: strings and f-strings with words, and docstrings that are shown.

An f-string is written with its expressions in braces, as in
`topic {name} has {count(n, 'record')}`.
"""

import ast
import re
from collections.abc import Collection, Iterator

from scripts.words.text import Text
from scripts.words.usage import SKIPPED, Usage

Shown = ast.Constant | ast.JoinedStr
Command = ast.FunctionDef | ast.AsyncFunctionDef
_Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

_EXPRESSION_MAX = 40
_PLACEHOLDER = re.compile(r"\{[^{}]*\}|%[-\d.]*[sdrf]|%\(\w+\)\w")
_TWO_WORDS = re.compile(r"\w\S*\s\W*\w")
_WORD = re.compile(r"[A-Za-z]{2}")
_HEADING = re.compile(r"[A-Za-z]{2}[\w.:()]*(?: [\w.:()]+)*$")
# Code of other languages, options of Java, and styles of the terminal.
_CODE = re.compile(
    r"SELECT |MERGE INTO|WHEN |VALUES \(|ROW_NUMBER|<\w|#!|-[DX]\w|spark\.\w|"
    r"\w+ (?:bigint|string|binary|int|timestamp)(?: NOT NULL)?, |"
    r"(?:(?:not|bold|dim|red|green|cyan|yellow)\b ?)+$"
)


def python_texts(source: str) -> list[Text]:
    """What users read of a module, in the order of its lines."""
    tree = ast.parse(source)
    usage = Usage(tree)
    found = [*_docstrings(tree), *_strings(tree, usage)]
    found.sort(key=lambda each: each[0])
    return [text for _, text in found]


def reference_texts(source: str, names: Collection[str]) -> list[Text]:
    """The docstrings in the API reference: of the public classes and functions of these names."""
    found: list[Text] = []
    for node in ast.parse(source).body:
        if isinstance(node, _Documented) and node.name in names:
            members = node.body if isinstance(node, ast.ClassDef) else []
            public = [each for each in members if isinstance(each, Command) and _is_public(each)]
            for each in (node, *public):
                found += _paragraphs("api", ast.get_docstring(each))
    return found


def module_texts(source: str) -> list[Text]:
    """The docstring of a module that has a page in the API reference."""
    return _paragraphs("api", ast.get_docstring(ast.parse(source)))


def config_texts(source: str) -> list[Text]:
    """What a module of documentation says about configs: its strings of several words."""
    tree = ast.parse(source)
    strings = [node for node in ast.walk(tree) if isinstance(node, Shown)]
    usage = Usage(tree)
    texts = [(_position(node), rendered(node)) for node in strings if not _is_part(node, usage)]
    return [Text("config", text) for _, text in sorted(texts) if has_words(text)]


def fault_texts(source: str) -> list[Text]:
    """Docstrings of the functions of a module: `ottla simulate --list-faults` prints them."""
    functions = [node for node in ast.parse(source).body if isinstance(node, Command)]
    docs = [ast.get_docstring(node) for node in functions if not node.name.startswith("_")]
    return [Text("help", one_line(doc)) for doc in docs if doc]


def rendered(node: Shown) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return "".join(map(_rendered_part, node.values))


def has_words(text: str) -> bool:
    """True for two words, of which a placeholder may be one."""
    return bool(
        _TWO_WORDS.search(_PLACEHOLDER.sub("x1", text)) and _WORD.search(_PLACEHOLDER.sub("", text))
    )


def one_line(text: str) -> str:
    return " ".join(text.split())


def _rendered_part(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    assert isinstance(part, ast.FormattedValue)
    value = part.value
    if isinstance(value, ast.Attribute):
        return f"{{{value.attr}}}"
    code = ast.unparse(value)
    if isinstance(value, ast.Call) and len(code) > _EXPRESSION_MAX:
        code = ast.unparse(value.func) + "()"
    return f"{{{code}}}" if len(code) <= _EXPRESSION_MAX else "{...}"


def _strings(tree: ast.Module, usage: Usage) -> Iterator[tuple[tuple[int, int], Text]]:
    for node in ast.walk(tree):
        if not isinstance(node, Shown) or _is_part(node, usage):
            continue
        text = rendered(node)
        if _CODE.match(text) or not (has_words(text) or _is_heading(node, usage)):
            continue
        kind = usage.kind(node)
        if kind != SKIPPED:
            for paragraph in _paragraphs(kind, text):
                yield _position(node), paragraph


def _docstrings(tree: ast.Module) -> Iterator[tuple[tuple[int, int], Text]]:
    nodes: list[ast.Module | Command] = [
        node for node in ast.walk(tree) if isinstance(node, Command) and _is_command(node)
    ]
    names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    if "__doc__" in names:
        nodes.append(tree)
    for node in nodes:
        line = 1 if isinstance(node, ast.Module) else node.lineno
        for paragraph in _paragraphs("help", ast.get_docstring(node)):
            yield (line, 0), paragraph


def _paragraphs(kind: str, text: str | None) -> list[Text]:
    paragraphs = re.split(r"\n\s*\n", (text or "").replace("\b", ""))
    return [Text(kind, one_line(each)) for each in paragraphs if each.strip()]


def _is_public(function: Command) -> bool:
    return not function.name.startswith("_")


def _is_command(function: Command) -> bool:
    """Typer shows its docstring: it is registered as a command, or takes options of Typer's."""
    decorators = [ast.unparse(each).partition("(")[0] for each in function.decorator_list]
    if any(name.endswith((".command", ".callback")) for name in decorators):
        return True
    arguments = [*function.args.args, *function.args.kwonlyargs]
    return any("typer.Option(" in ast.unparse(each) for each in arguments)


def _is_heading(node: Shown, usage: Usage) -> bool:
    """True for one word that is shown: the heading of a column, the name of a value."""
    return bool(_HEADING.match(rendered(node))) and usage.is_shown_as_it_is(node)


def _is_part(node: Shown, usage: Usage) -> bool:
    """True for a part of another string, for a docstring, and for what is no string."""
    if isinstance(node, ast.Constant) and not isinstance(node.value, str):
        return True
    return isinstance(usage.parent(node), ast.JoinedStr | ast.Expr)


def _position(node: Shown) -> tuple[int, int]:
    return node.lineno, node.col_offset
