"""Values for any message in any version, chosen by a seed.

A seed makes one message after the other much faster than a strategy of Hypothesis for each type
would, so Hypothesis chooses the seeds. A message keeps to what its version can carry: fields that
the version lacks hold their defaults, hence the message equals what is decoded from its bytes.
"""

from collections.abc import Callable
from random import Random  # noqa: TID251 - the seed is the test's input
from typing import Any, TypeVar

from ottla.wire.schema import Message, Struct
from ottla.wire.schema.fields import Field, fields_of
from ottla.wire.schema.types import Array, Blob, FieldType, Fixed, Nested, TextType

AnyMessage = TypeVar("AnyMessage", bound=Message)
AnyStruct = TypeVar("AnyStruct", bound=Struct)

TEXTS = ("", "a", "orders", "ünïcödé", "日本語", "🪵" * 3, "x" * 127, "y" * 128, "z" * 300)
# Around the bounds of short arrays and of one-byte lengths.
FIXED_COUNTS = (0, 1, 1, 2, 3, 3, 3, 63, 64, 126, 127, 200)
COUNTS = (0, 1, 1, 2, 3)
COUNTS_INSIDE = (0, 1, 1, 2)


class Values:
    """Makes messages. With `unknown_tags`, flexible structs carry undeclared tags; a
    `small` message has one of everything that it can have, and that short."""

    def __init__(self, seed: int, *, unknown_tags: bool = False, small: bool = False) -> None:
        self._random = Random(seed)
        self._unknown_tags = unknown_tags
        self._small = small

    def message(self, cls: type[AnyMessage], version: int) -> AnyMessage:
        return self._struct(cls, version, flexible=version in cls.flexible, depth=0)

    def _struct(
        self, cls: type[AnyStruct], version: int, *, flexible: bool, depth: int
    ) -> AnyStruct:
        made = cls()
        for field in fields_of(cls):
            if version in field.options.versions:
                value = self._field(field, version, flexible=flexible, depth=depth)
                setattr(made, field.name, value)
        if flexible and self._unknown_tags and self._random.random() < 0.3:
            # Kafka takes a tag of another version of the same message for an error.
            known = {field.options.tag for field in fields_of(cls)}
            tags = {0, 1, 5, 127, 128, 70_000} - known
            made.unknown_tags = {tag: self._bytes() for tag in sorted(tags)[: self._count(COUNTS)]}
            made.unknown_tags = made.unknown_tags or None
        return made

    def _field(self, field: Field, version: int, *, flexible: bool, depth: int) -> Any:
        if field.is_tagged(version) and self._omits(0.4):
            return field.options.make_default()
        if field.is_nullable(version) and self._omits(0.25):
            return None
        value = self._value(field.type, version, flexible=flexible, depth=depth)
        is_unsent = (
            isinstance(field.type, Nested) and field.is_tagged(version) and value == type(value)()
        )
        return field.options.make_default() if is_unsent else value

    def _value(self, kind: FieldType, version: int, *, flexible: bool, depth: int) -> Any:
        if isinstance(kind, Fixed):
            return self._fixed(kind)
        if isinstance(kind, TextType):
            return TEXTS[1] if self._small else self._random.choice(TEXTS)
        if isinstance(kind, Blob):
            return self._bytes()
        if isinstance(kind, Nested):
            return self._struct(kind.struct, version, flexible=flexible, depth=depth + 1)
        return self._array(kind, version, flexible=flexible, depth=depth)

    def _array(self, kind: Array, version: int, *, flexible: bool, depth: int) -> list[Any]:
        is_fixed = isinstance(kind.element, Fixed)
        count = self._count(FIXED_COUNTS if is_fixed else COUNTS_INSIDE if depth else COUNTS)
        return [
            self._value(kind.element, version, flexible=flexible, depth=depth + 1)
            for _ in range(count)
        ]

    def _omits(self, chance: float) -> bool:
        return not self._small and self._random.random() < chance

    def _count(self, choices: tuple[int, ...]) -> int:
        return 1 if self._small else self._random.choice(choices)

    def _bytes(self) -> bytes:
        return self._random.randbytes(self._count((0, 1, 7, 127, 128, 1000)))

    def _fixed(self, kind: Fixed) -> Any:
        if kind.name == "BOOLEAN":
            return self._random.random() < 0.5
        if kind.name == "FLOAT64":
            return self._random.choice((0.0, -1.5, 1e300, self._random.random()))
        if kind.name == "UUID":
            return self._random.choice((bytes(16), self._random.randbytes(16)))
        lowest, highest = INTEGER_BOUNDS[kind.name]
        choices: tuple[Callable[[], int], ...] = (
            lambda: self._random.randint(max(lowest, -1), 100),
            lambda: self._random.randint(lowest, highest),
            lambda: self._random.choice((lowest, highest)),
        )
        return self._random.choice(choices)()


INTEGER_BOUNDS = {
    f"{sign}INT{8 * size}": bounds
    for size in (1, 2, 4, 8)
    for sign, bounds in (
        ("", (-1 << 8 * size - 1, (1 << 8 * size - 1) - 1)),
        ("U", (0, (1 << 8 * size) - 1)),
    )
}
