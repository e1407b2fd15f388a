"""YAML as a tree of texts that know their lines.

A scalar stays the text that is in the file: the reader of a field knows whether that is a number.
So `no` is a user and `0o17` a wrong number, whatever YAML makes of them. Duplicate keys are
mistakes, and so are tags and merge keys (`<<`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import yaml

from ottla.cli.cluster_file.mistakes import Mistake, Place

_NULL: Final = "tag:yaml.org,2002:null"
_MERGE: Final = "tag:yaml.org,2002:merge"
_CORE: Final = "tag:yaml.org,2002:"
# The one in C takes a tenth of the time; not every installation of PyYAML has it.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class YamlScalar:
    place: Place
    text: str
    is_null: bool = False


@dataclass(frozen=True, slots=True)
class YamlList:
    place: Place
    items: tuple[YamlTree, ...]


class YamlField(NamedTuple):
    place: Place
    value: YamlTree


@dataclass(frozen=True, slots=True)
class YamlMapping:
    place: Place
    fields: Mapping[str, YamlField]


YamlTree: TypeAlias = YamlScalar | YamlList | YamlMapping


def parse_yaml(file: str, text: str) -> tuple[list[YamlTree], list[Mistake]]:
    """The documents in a text. Syntax that is wrong hides what is after it."""
    reader = _Reader(file)
    trees = []
    try:
        for document in yaml.compose_all(text, Loader=_LOADER):
            if document is not None:
                trees.append(reader.tree(document))
    except yaml.MarkedYAMLError as error:
        reader.mistakes.append(_syntax(file, error))
    except yaml.YAMLError as error:
        # A character that YAML does not allow: its place is in the text only.
        reader.mistakes.append(Mistake(Place(file, 1), f"this is not YAML: {error}"))
    except RecursionError:
        reader.mistakes.append(Mistake(Place(file, 1), "the nesting is too deep"))
    return trees, reader.mistakes


class _Reader:
    """Turns PyYAML's nodes into trees. A node that aliases refer to becomes one tree."""

    def __init__(self, file: str) -> None:
        self.mistakes: list[Mistake] = []
        self._file = file
        self._trees: dict[int, YamlTree] = {}
        self._open: set[int] = set()

    def tree(self, node: yaml.Node) -> YamlTree:
        known = self._trees.get(id(node))
        if known is not None:
            return known
        place = self._place(node)
        if id(node) in self._open:
            self._mistake(place, "this alias refers to what it is part of")
            return YamlScalar(place, "", is_null=True)
        if not node.tag.startswith(_CORE):
            self._mistake(place, f"tags such as {node.tag} are not supported; leave it out")
        self._open.add(id(node))
        tree = self._new_tree(node, place)
        self._open.discard(id(node))
        self._trees[id(node)] = tree
        return tree

    def _new_tree(self, node: yaml.Node, place: Place) -> YamlTree:
        if isinstance(node, yaml.MappingNode):
            return YamlMapping(place, self._fields(node))
        if isinstance(node, yaml.SequenceNode):
            return YamlList(place, tuple(self.tree(item) for item in node.value))
        return YamlScalar(place, node.value, is_null=node.tag == _NULL)

    def _fields(self, node: yaml.MappingNode) -> dict[str, YamlField]:
        fields: dict[str, YamlField] = {}
        for key, value in node.value:
            place = self._place(key)
            if not isinstance(key, yaml.ScalarNode):
                self._mistake(place, "a key must be a name, not a list or a mapping")
            elif key.tag == _MERGE:
                self._mistake(place, "merge keys (<<) are not supported; write the fields out")
            elif key.value in fields:
                first = fields[key.value].place.line
                self._mistake(place, f"{key.value} is there twice, first in line {first}")
            else:
                fields[key.value] = YamlField(place, self.tree(value))
        return fields

    def _place(self, node: yaml.Node) -> Place:
        return Place(self._file, node.start_mark.line + 1)

    def _mistake(self, place: Place, message: str) -> None:
        self.mistakes.append(Mistake(place, message))


def _syntax(file: str, error: yaml.MarkedYAMLError) -> Mistake:
    mark = error.problem_mark or error.context_mark
    line = 1 if mark is None else mark.line + 1
    context = "" if error.context is None else f" {error.context}"
    return Mistake(Place(file, line), f"this is not YAML: {error.problem}{context}")
