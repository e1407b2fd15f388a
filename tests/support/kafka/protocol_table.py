"""Kafka's protocol as read out of its own classes, and its messages as declarations.

The table (`fixtures/protocol`) has, for each message, runs of versions with one layout each. A
declaration has one struct with all its fields, each with the versions that it belongs to. The
functions here merge the runs into declarations; `scripts/declare_messages.py` prints them as
source, and the tests build classes of them to try the compiler on every message there is.
"""

import difflib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

FIXTURES = Path(__file__).parents[2] / "fixtures" / "protocol"

# A layout is a list of [name, type]: a type is a name, {"array": type} or {"struct": layout},
# either of the latter with "nullable"; the name "#tags" has {tag: [name, type]} instead.
Layout: TypeAlias = list[Any]


@cache
def read_table(name: str) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((FIXTURES / f"{name}.json").read_text())
    return table


def message_names() -> list[str]:
    return list(read_table("layouts"))


def api_table() -> dict[int, dict[str, Any]]:
    return {int(key): api for key, api in read_table("apis").items()}


def layouts_by_version(name: str) -> dict[int, Layout]:
    """Every version of a message that Kafka's classes can read, stable or not."""
    found: dict[int, Layout] = {}
    for run in read_table("layouts")[name]["layouts"]:
        lowest, highest = map(int, run["versions"].split("-"))
        found |= dict.fromkeys(range(lowest, highest + 1), run["fields"])
    return found


def stable_versions(name: str) -> list[int]:
    """The versions of a message without those that Kafka itself does not advertise."""
    entry = read_table("layouts")[name]
    highest = 32767
    if entry["package"] == "common.message" and entry["key"] >= 0:
        highest = api_table()[entry["key"]]["max_stable"]
    return [version for version in layouts_by_version(name) if version <= highest]


def is_flexible(layout: Layout) -> bool:
    return any(name == "#tags" for name, _ in layout)


@dataclass(frozen=True, slots=True)
class FieldDeclaration:
    """`kind` is the name of a type or of a struct; version ranges are written as in source."""

    name: str
    kind: str
    is_array: bool
    is_struct: bool
    default: Any
    versions: str
    nullable: str
    tag: int | None
    tagged: str
    flexible: str


@dataclass(frozen=True, slots=True)
class StructDeclaration:
    name: str
    fields: tuple[FieldDeclaration, ...]


@dataclass(frozen=True, slots=True)
class MessageDeclaration:
    """A message and the structs inside it, each of them after those that it uses."""

    root: StructDeclaration
    structs: tuple[StructDeclaration, ...]
    api_key: int | None
    versions: str
    flexible: str


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A field as one version has it."""

    type: Any
    tag: int | None
    flexible: bool

    @property
    def element(self) -> Any:
        is_array = isinstance(self.type, dict) and "array" in self.type
        return self.type["array"] if is_array else self.type

    @property
    def is_nullable(self) -> bool:
        if isinstance(self.type, dict):
            return bool(self.type.get("nullable", False))
        return "NULLABLE" in self.type

    @property
    def keeps_old_length(self) -> bool:
        """Whether the length has the form of versions before the flexible ones, in one of these."""
        is_sized = isinstance(self.type, str) and _kind(self.type) in _SIZED
        return self.flexible and is_sized and not self.type.startswith("COMPACT_")


_SIZED = ("String", "Bytes", "Records")
_KINDS = {"BOOLEAN": "Bool"} | {
    name.upper(): name
    for name in (
        *("Int8", "Int16", "Int32", "Int64", "Uint16", "Uint32", "Float64", "Uuid"),
        *_SIZED,
    )
}


def _kind(table_type: str) -> str:
    return _KINDS[table_type.removeprefix("COMPACT_").removeprefix("NULLABLE_")]


def _occurrences(layout: Layout) -> Iterator[tuple[str, Occurrence]]:
    flexible = is_flexible(layout)
    for name, field_type in layout:
        if name == "#tags":
            for tag, (tagged_name, tagged_type) in field_type.items():
                yield tagged_name, Occurrence(tagged_type, int(tag), flexible)
        else:
            yield name, Occurrence(field_type, None, flexible)


def _by_field(layouts: dict[int, Layout]) -> dict[str, dict[int, Occurrence]]:
    found: dict[str, dict[int, Occurrence]] = {}
    for version, layout in layouts.items():
        for name, occurrence in _occurrences(layout):
            found.setdefault(name, {})[version] = occurrence
    return found


def _struct_layouts(seen: dict[int, Occurrence]) -> dict[int, Layout]:
    return {version: occurrence.element["struct"] for version, occurrence in seen.items()}


def squash(name: str) -> str:
    """The letters that snake_case and camelCase have in common."""
    return name.replace("_", "").lower()


def declare(name: str, versions: Iterable[int] | None = None) -> MessageDeclaration:
    """One declaration for the given versions of a message, or for its stable ones."""
    return _Merger(name, sorted(stable_versions(name) if versions is None else versions)).message()


class _Merger:
    """Merges a message's layouts. Kafka's class for a struct is the one with the same fields."""

    def __init__(self, name: str, versions: list[int]) -> None:
        entry = read_table("layouts")[name]
        self._name = name
        self._key: int = entry["key"]
        self._classes: dict[str, dict[str, Any]] = entry["defaults"]
        self._versions = versions
        layouts = layouts_by_version(name)
        self._layouts = {version: layouts[version] for version in versions}
        # By Kafka's class name, the struct's layout in each version that has it.
        self._structs: dict[str, dict[int, Layout]] = {}

    def message(self) -> MessageDeclaration:
        self._find_classes(self._layouts)
        root = self._struct("", self._layouts)
        done: dict[str, StructDeclaration] = {}
        self._declare_uses(root, done)
        flexible = [version for version in self._versions if is_flexible(self._layouts[version])]
        return MessageDeclaration(
            root=root,
            structs=tuple(done.values()),
            api_key=self._key if self._key >= 0 else None,
            versions=_range_text(self._versions[0], self._versions[-1]),
            flexible=self._range(flexible),
        )

    def _find_classes(self, layouts: dict[int, Layout]) -> None:
        """Several fields may share a class, so all of them come before its declaration."""
        for name, seen in _by_field(layouts).items():
            if isinstance(next(iter(seen.values())).element, dict):
                self._find_classes(_struct_layouts(seen))
                class_layouts = self._structs.setdefault(self._class_of(name, seen), {})
                for version, layout in _struct_layouts(seen).items():
                    assert class_layouts.setdefault(version, layout) == layout

    def _declare_uses(self, user: StructDeclaration, done: dict[str, StructDeclaration]) -> None:
        for field in user.fields:
            if field.is_struct and field.kind not in done:
                struct = self._struct(field.kind, self._structs[field.kind])
                self._declare_uses(struct, done)
                done[field.kind] = struct

    def _struct(self, class_name: str, layouts: dict[int, Layout]) -> StructDeclaration:
        found = _by_field(layouts)
        defaults = {squash(name): value for name, value in self._classes[class_name].items()}
        # Java's fields stand in the order of the wire, whatever version has them.
        order = list(defaults)
        names = sorted(found, key=lambda name: order.index(squash(name)))
        fields = (
            self._field(name, found[name], defaults[squash(name)], sorted(layouts))
            for name in names
        )
        return StructDeclaration(class_name or message_class_name(self._name), tuple(fields))

    def _field(
        self, name: str, seen: dict[int, Occurrence], default: Any, within: list[int]
    ) -> FieldDeclaration:
        any_of = next(iter(seen.values()))
        is_struct = isinstance(any_of.element, dict)
        tags = {occurrence.tag for occurrence in seen.values()} - {None}
        assert len(tags) <= 1
        return FieldDeclaration(
            name=name,
            kind=self._class_of(name, seen) if is_struct else _kind(any_of.element),
            is_array=any_of.element is not any_of.type,
            is_struct=is_struct,
            default=default,
            versions="0+" if len(seen) == len(within) else self._range(list(seen)),
            nullable=self._range([v for v, seen_in in seen.items() if seen_in.is_nullable], seen),
            tag=next(iter(tags), None),
            tagged=self._range([v for v, seen_in in seen.items() if seen_in.tag is not None], seen),
            flexible="none" if any(part.keeps_old_length for part in seen.values()) else "0+",
        )

    def _class_of(self, name: str, seen: dict[int, Occurrence]) -> str:
        names = {squash(field) for field in _by_field(_struct_layouts(seen))}
        candidates = {
            class_name: {squash(field) for field in fields} - names
            for class_name, fields in self._classes.items()
            if class_name and names <= {squash(field) for field in fields}
        }
        return max(
            candidates,
            key=lambda candidate: (
                -len(candidates[candidate]),
                difflib.SequenceMatcher(None, candidate.lower(), squash(name)).ratio(),
            ),
        )

    def _range(self, versions: list[int], within: Iterable[int] | None = None) -> str:
        if not versions:
            return "none"
        lowest, highest = min(versions), max(versions)
        assert len(versions) == len(range(lowest, highest + 1)), f"{self._name} has a gap"
        if within is not None and len(versions) == len(list(within)):
            return "0+"
        if highest == self._versions[-1]:
            return f"{lowest}+"
        return _range_text(lowest, highest)


def _range_text(lowest: int, highest: int) -> str:
    return f"{lowest}-{highest}" if lowest != highest else f"{lowest}"


def message_class_name(name: str) -> str:
    """Our name of a message: Kafka's, without the suffix of its generated classes."""
    is_plain_data = name in ("DefaultPrincipalData", "QuorumStateData")
    return name if is_plain_data else name.removesuffix("Data")
