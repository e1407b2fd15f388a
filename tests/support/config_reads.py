"""Which configs the code of a node reads, found in its syntax trees.

A config is read where the attribute that stands for it is, or where its name is used as a key. The
receiver of the attribute has to be called like a config (`config.num_partitions`), since other
classes have attributes of the same names. Names that are keys of a dictionary are written, not
read. Where a name is put together (`f"{side}.replication.throttled.rate"`), any part may stand for
what is put in.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ottla.configs.setting import Setting

SOURCE = Path(__file__).resolve().parents[2] / "src" / "ottla"
# What runs in a node. The rest sets configs, and reads none.
PACKAGES = ("broker", "controller", "coordinator", "raft", "replication", "storage", "cli/start")
RECEIVERS = {
    "config",
    "listener",
    "node",
    "of_mechanism",
    "settings",
    "topic",
    "topic_config",
    "topic_defaults",
    "self",
}
NAME_PART = "[a-z.]+"
PATTERN_LITERALS_MIN = 12


@dataclass(frozen=True, slots=True)
class Reads:
    attributes: frozenset[str]
    keys: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]

    def has_key(self, name: str) -> bool:
        return name in self.keys or any(pattern.fullmatch(name) for pattern in self.patterns)


def reads_of_nodes() -> Reads:
    return reads_of(path for package in PACKAGES for path in (SOURCE / package).rglob("*.py"))


def reads_of(paths: Iterable[Path]) -> Reads:
    trees = [ast.parse(path.read_text()) for path in paths]
    return Reads(
        frozenset(name for tree in trees for name in _attributes(tree)),
        frozenset(name for tree in trees for name in _keys(tree)),
        tuple(pattern for tree in trees for pattern in _patterns(tree)),
    )


def setting_names(owner: type) -> dict[str, str]:
    """The configs' names by the attributes of a class that stand for them."""
    return {name: value.name for name, value in vars(owner).items() if isinstance(value, Setting)}


def read_settings(owner: type, module: Path, reads: Reads) -> set[str]:
    """The configs of a class whose attributes are read, by themselves or through its properties."""
    within = _attributes_by_method(ast.parse(module.read_text()), owner.__name__)
    used = set(reads.attributes)
    while more := {name for method in used & within.keys() for name in within[method]} - used:
        used |= more
    return {config for attribute, config in setting_names(owner).items() if attribute in used}


def _attributes(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and _last_name(node.value) in RECEIVERS
        ):
            yield node.attr


def _last_name(receiver: ast.expr) -> str:
    if isinstance(receiver, ast.Call):
        receiver = receiver.func
    if isinstance(receiver, ast.Attribute):
        return receiver.attr.lstrip("_")
    return receiver.id if isinstance(receiver, ast.Name) else ""


def _keys(tree: ast.AST) -> Iterator[str]:
    written = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            written |= set(map(id, node.keys))
        elif isinstance(node, ast.Call) and _is_setting(node):
            # It declares an attribute, which may be read or not.
            written |= set(map(id, node.args))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in written
        ):
            yield node.value


def _is_setting(call: ast.Call) -> bool:
    function = call.func
    return isinstance(function, ast.Subscript) and _last_name(function.value) == "Setting"


def _patterns(tree: ast.AST) -> Iterator[re.Pattern[str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            literals = [
                part.value if isinstance(part, ast.Constant) else None for part in node.values
            ]
            if sum(len(str(part)) for part in literals if part) >= PATTERN_LITERALS_MIN:
                parts = (NAME_PART if part is None else re.escape(str(part)) for part in literals)
                yield re.compile("".join(parts))


def _attributes_by_method(tree: ast.Module, class_name: str) -> dict[str, set[str]]:
    return {
        method.name: {
            node.attr
            for node in ast.walk(method)
            if isinstance(node, ast.Attribute) and _last_name(node.value) == "self"
        }
        for body in tree.body
        if isinstance(body, ast.ClassDef) and body.name == class_name
        for method in body.body
        if isinstance(method, ast.FunctionDef)
    }
