"""YAML as a tree of texts that know their lines.

A scalar stays the text that is in the file: the reader of a field knows whether that is a number.
So `no` is a user and `0o17` a wrong number, whatever YAML makes of them. Duplicate keys are
mistakes, and so are tags and merge keys (`<<`).

The tree is built from the parser's events, because PyYAML's own composer of trees overflows the
stack where the nesting is deep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import yaml

from ottla.cli.cluster_file.mistakes import Mistake, Place

_NULLS: Final = ("", "~", "null", "Null", "NULL")
_MERGE: Final = "<<"
# No valid file has more than half of it.
_DEPTH_MAX: Final = 20
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
    reader = _Reader(file, yaml.parse(text, Loader=_LOADER))
    trees = []
    try:
        for event in reader.events:
            if isinstance(event, yaml.DocumentStartEvent):
                trees.append(reader.tree(next(reader.events), depth=0))
    except yaml.MarkedYAMLError as error:
        reader.mistakes.append(_syntax(file, error))
    except yaml.YAMLError as error:
        # A character that YAML does not allow: its place is in the text only.
        reader.mistakes.append(Mistake(Place(file, 1), f"this is not YAML: {error}"))
    except _TooDeepError as error:
        message = f"there are more than {_DEPTH_MAX} levels here; no field has so many"
        reader.mistakes.append(Mistake(error.place, message))
    return trees, reader.mistakes


class _TooDeepError(Exception):
    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.place = place


class _Reader:
    """Builds trees of events. What an alias refers to is one tree, however often it is used."""

    def __init__(self, file: str, events: Iterator[Any]) -> None:
        self.events = events
        self.mistakes: list[Mistake] = []
        self._file = file
        self._anchored: dict[str, YamlTree] = {}

    def tree(self, event: Any, *, depth: int) -> YamlTree:
        """Takes the events up to the end of the node that begins with this one."""
        place = Place(self._file, event.start_mark.line + 1)
        if depth > _DEPTH_MAX:
            raise _TooDeepError(place)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event.anchor or "", place)
        if event.tag not in (None, "!"):
            self._mistake(place, f"tags such as {event.tag} are not supported; leave it out")
        tree: YamlTree
        if isinstance(event, yaml.MappingStartEvent):
            tree = YamlMapping(place, self._fields(depth))
        elif isinstance(event, yaml.SequenceStartEvent):
            tree = YamlList(place, tuple(self._items(depth)))
        else:
            is_plain = event.implicit[0] and event.style in (None, "")
            tree = YamlScalar(place, event.value, is_plain and event.value in _NULLS)
        if event.anchor is not None:
            self._anchored[event.anchor] = tree
        return tree

    def _alias(self, anchor: str, place: Place) -> YamlTree:
        if anchor not in self._anchored:
            self._mistake(place, f"no value before this line has the anchor &{anchor}")
        return self._anchored.get(anchor, YamlScalar(place, "", is_null=True))

    def _items(self, depth: int) -> Iterator[YamlTree]:
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            yield self.tree(event, depth=depth + 1)

    def _fields(self, depth: int) -> dict[str, YamlField]:
        fields: dict[str, YamlField] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.tree(event, depth=depth + 1)
            value = self.tree(next(self.events), depth=depth + 1)
            if not isinstance(key, YamlScalar):
                self._mistake(key.place, "a key must be a name, not a list or a mapping")
            elif key.text == _MERGE:
                self._mistake(key.place, "merge keys (<<) are not supported; write the fields out")
            elif key.text in fields:
                first = fields[key.text].place.line
                self._mistake(key.place, f"{key.text} is there twice, first in line {first}")
            else:
                fields[key.text] = YamlField(key.place, value)
        return fields

    def _mistake(self, place: Place, message: str) -> None:
        self.mistakes.append(Mistake(place, message))


def _syntax(file: str, error: yaml.MarkedYAMLError) -> Mistake:
    mark = error.problem_mark or error.context_mark
    line = 1 if mark is None else mark.line + 1
    context = error.context or ""
    # * stands for everything in lists of names, and begins an alias in YAML.
    hint = "; write '*' in quotes" if "alias" in context else ""
    return Mistake(
        Place(file, line), f"this is not YAML: {error.problem} {context}".rstrip() + hint
    )
