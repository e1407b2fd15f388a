"""Reads typed values out of YAML trees. What is wrong becomes a mistake, and reading goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ottla.cli.cluster_file.mistakes import Mistake, Place, unknown_name_text
from ottla.cli.cluster_file.yaml_tree import YamlField, YamlList, YamlMapping, YamlScalar, YamlTree

_INTEGER: Final = re.compile(r"-?[0-9]{1,10}")
INT32_MAX: Final = 2**31 - 1


class FieldReader:
    """Collects the mistakes of a file. `what` names the value in them, such as `topic orders`."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []

    def add(self, place: Place, message: str) -> None:
        self.mistakes.append(Mistake(place, message))

    def fields(self, tree: YamlTree, what: str, known: Sequence[str]) -> Mapping[str, YamlField]:
        """The fields with known names; nothing at all is a mapping without fields."""
        found = self.entries(tree, what)
        for name, field in found.items():
            if name not in known:
                hint = unknown_name_text(name, known)
                self.add(field.place, f"{what} has no field {name}{hint}")
        return {name: field for name, field in found.items() if name in known}

    def entries(self, tree: YamlTree, what: str) -> Mapping[str, YamlField]:
        """The fields of a mapping whose keys are names of any kind."""
        if isinstance(tree, YamlMapping):
            return tree.fields
        if not (isinstance(tree, YamlScalar) and tree.is_null):
            self.add(tree.place, f"{what} must be a mapping: write NAME: VALUE lines below it")
        return {}

    def items(self, tree: YamlTree, what: str) -> Iterator[YamlTree]:
        if isinstance(tree, YamlList):
            yield from tree.items
        elif not (isinstance(tree, YamlScalar) and tree.is_null):
            self.add(tree.place, f"{what} must be a list: write lines that begin with -")

    def text(self, tree: YamlTree, what: str) -> str | None:
        """None after a mistake."""
        if not isinstance(tree, YamlScalar):
            self.add(tree.place, f"{what} must be one value, not a list or a mapping")
            return None
        if tree.is_null or not tree.text:
            self.add(tree.place, f"{what} is empty; write a value")
            return None
        return tree.text

    def number(
        self, tree: YamlTree, what: str, *, minimum: int, maximum: int = INT32_MAX
    ) -> int | None:
        """None after a mistake."""
        text = self.text(tree, what)
        if text is None:
            return None
        if not _INTEGER.fullmatch(text) or not minimum <= int(text) <= maximum:
            upper = "" if maximum == INT32_MAX else f" and at most {maximum}"
            self.add(
                tree.place,
                f"{what} is {text!r}; write a whole number of at least {minimum}{upper}",
            )
            return None
        return int(text)

    def names(self, tree: YamlTree, what: str) -> tuple[str, ...]:
        """A list of texts, or one text."""
        if isinstance(tree, YamlScalar) and not tree.is_null:
            tree = YamlList(tree.place, (tree,))
        found = (self.text(item, f"an item of {what}") for item in self.items(tree, what))
        return tuple(name for name in found if name is not None)
