"""What becomes of a string in a module: raised, logged, printed, shown as help, or something else.

The call around the string decides. Where a string is assigned or returned first, the uses of that
name in the same module decide, and at last the name itself.
"""

import ast
import re
from collections.abc import Iterator

SKIPPED = "skipped"
UNKNOWN = "text"

_LOG_METHODS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
_CALLS = {
    "error": {"Exit", "Failure", "SettingRefusal", "SystemExit", "PowerLost", "refuse", "refusal"},
    "help": {"Option", "Argument", "Typer", "add_argument", "ArgumentParser", "addinivalue_line"},
    "output": {
        *(
            "print",
            "echo",
            "secho",
            "notice",
            "complain",
            "status",
            "input",
            "confirm",
            "write",
            "getpass",
        ),
        *("new_table", "add_column", "add_row", "add_task", "Panel", "Table", "Tree", "Text"),
        *("Problem", "Remark", "Step", "DumpColumn", "say", "note"),
        *("Fault", "Noted", "Failed", "Violation"),
    },
    SKIPPED: {
        *("compile", "match", "search", "fullmatch", "sub", "startswith", "endswith", "split"),
        *("removeprefix", "removesuffix", "partition", "rpartition", "cast", "TypeVar", "fork"),
        *("selectExpr", "where", "expr", "sql", "mapInArrow", "basicConfig", "send_header"),
    },
}
_KIND_OF_CALL = {name: kind for kind, names in _CALLS.items() for name in names}
_SETTINGS = ("style", "header_style", "justify", "overflow", "prog", "rich_markup_mode", "schema")
_KIND_OF_KEYWORD = {
    **dict.fromkeys(("error_message", "message", "hint", "hints", "reason"), "error"),
    **dict.fromkeys(("help", "short_help", "epilog", "metavar", "description"), "help"),
    **dict.fromkeys(("title", "caption", "label"), "output"),
    **dict.fromkeys(_SETTINGS, SKIPPED),
}
_NAMES = (
    ("error", re.compile(r"message|reason|refus|hint|problem|mistake|error|failure|invalid")),
    ("help", re.compile(r"help|__doc__|exit_codes")),
    (SKIPPED, re.compile(r"style|schema|sql")),
    ("output", re.compile(r"title|heading|line|note|notice|label|summary|caption|shown")),
)
_ERROR = re.compile(r"(?:Error|Exception|NoReturn)$")
_STEPS_MAX = 4


class Usage:
    """One module, with the uses of its names."""

    def __init__(self, tree: ast.Module) -> None:
        self._parents: dict[ast.AST, ast.AST] = {}
        self._loads: dict[str, list[ast.expr]] = {}
        self._functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        for node in ast.walk(tree):
            self._parents.update(dict.fromkeys(ast.iter_child_nodes(node), node))
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                self._loads.setdefault(_last_name(node), []).append(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._functions[node.name] = node

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(node)

    def kind(self, node: ast.AST) -> str:
        """The kind of the text that this expression is or ends up in."""
        return self._kind(node, _STEPS_MAX)

    def is_shown_as_it_is(self, node: ast.AST) -> bool:
        """True for an argument of a call that shows each of its arguments, or makes a heading."""
        parent = self.parent(node)
        if isinstance(parent, ast.keyword):
            return _KIND_OF_KEYWORD.get(parent.arg or "") in ("help", "output")
        return isinstance(parent, ast.Call) and _last_name(parent.func) in _CALLS["output"]

    def _kind(self, node: ast.AST, steps: int) -> str:
        child, parent = node, self.parent(node)
        while parent is not None and not isinstance(parent, ast.stmt):
            kind = self._kind_in(child, parent, steps)
            if kind is not None:
                return kind
            child, parent = parent, self.parent(parent)
        return self._kind_of_statement(child, parent, steps)

    def _kind_in(self, child: ast.AST, parent: ast.AST, steps: int) -> str | None:
        if isinstance(parent, ast.keyword):
            return _KIND_OF_KEYWORD.get(parent.arg or "")
        if isinstance(parent, ast.Compare) or (
            isinstance(parent, ast.IfExp) and child is parent.test
        ):
            return SKIPPED
        if isinstance(parent, ast.Subscript) and child is parent.slice:
            return UNKNOWN if isinstance(parent.ctx, ast.Store) else SKIPPED
        if isinstance(parent, ast.Call) and child is not parent.func:
            return self._kind_of_call(parent, steps)
        return None

    def _kind_of_call(self, call: ast.Call, steps: int) -> str | None:
        name = _last_name(call.func)
        if isinstance(call.func, ast.Attribute):
            owner = _last_name(call.func.value)
            if name in _LOG_METHODS and "log" in owner.lower():
                return "log"
            if name in ("append", "extend", "insert", "add"):
                return self._kind_of_name(owner, steps)
        if name in self._functions:
            return self._kind_of_function(self._functions[name], steps)
        return "error" if _ERROR.search(name) else _KIND_OF_CALL.get(name)

    def _kind_of_function(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, steps: int
    ) -> str | None:
        """What a function of this module does with the texts that it takes."""
        if function.returns is not None and _ERROR.search(ast.unparse(function.returns)):
            return "error"
        arguments = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}
        if steps:
            for node in ast.walk(function):
                if isinstance(node, ast.Name) and node.id in arguments - {"self", "cls"}:
                    kind = self._kind(node, 0)
                    if kind not in (UNKNOWN, SKIPPED):
                        return kind
        return _KIND_OF_CALL.get(function.name)

    def _kind_of_statement(self, child: ast.AST, statement: ast.AST | None, steps: int) -> str:
        match statement:
            case ast.Raise() | ast.Assert():
                return "error"
            case ast.AnnAssign() if child is statement.annotation or _is_alias(statement):
                return SKIPPED
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
                return self._kind_of_name(_last_name(target), steps) or UNKNOWN
            case ast.AugAssign(target=target):
                return self._kind_of_name(_last_name(target), steps) or UNKNOWN
            case ast.Return():
                return self._kind_of_result(statement, steps)
        return UNKNOWN

    def _kind_of_result(self, statement: ast.Return, steps: int) -> str:
        function: ast.AST | None = statement
        while not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | None):
            function = self.parent(function)
        if function is None:
            return UNKNOWN
        if function.returns is not None and _ERROR.search(ast.unparse(function.returns)):
            return "error"
        return self._kind_of_name(function.name, steps) or UNKNOWN

    def _kind_of_name(self, name: str, steps: int) -> str | None:
        for kind in self._kinds_of_uses(name, steps):
            if kind not in (UNKNOWN, SKIPPED):
                return kind
        return next((kind for kind, names in _NAMES if names.search(name.lower())), None)

    def _kinds_of_uses(self, name: str, steps: int) -> Iterator[str]:
        for node in self._loads.get(name, ()) if steps else ():
            yield self._kind(node, steps - 1)


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    return node.id if isinstance(node, ast.Name) else ""


def _is_alias(statement: ast.AnnAssign) -> bool:
    return ast.unparse(statement.annotation).endswith("TypeAlias")
