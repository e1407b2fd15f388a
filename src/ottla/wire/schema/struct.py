"""Message declarations as classes.

    class EndTxnRequest(Message, api_key=26, versions="0-5", flexible="3+"):
        transactional_id: String = ""
        producer_id: Int64 = 0
        committed: Bool = False

A class declares all versions of one message: each field declares its versions
(`field(versions="13+")`), where it may be null, and whether it is a tagged field. Decoding sets a
field that is absent from the version to its default.

Importing a class is cheap, because `__init__` and each version's encoder and decoder are compiled
when they are first called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, dataclass_transform

from ottla.wire.schema.versions import Versions, versions

ALL_VERSIONS = versions("0+")
_UNSET: Any = object()


class FieldOptions(NamedTuple):
    """The declaration of a field besides its type."""

    default: Any = None
    factory: Callable[[], Any] | None = None
    versions: Versions = ALL_VERSIONS
    nullable: Versions | None = None
    tag: int | None = None
    tagged: Versions = ALL_VERSIONS
    flexible: Versions = ALL_VERSIONS
    secret: bool = False

    def make_default(self) -> Any:
        return self.factory() if self.factory is not None else self.default


def field(
    *,
    default: Any = None,
    factory: Callable[[], Any] | None = None,
    versions: str = "0+",
    nullable: str | None = None,
    tag: int | None = None,
    tagged: str = "0+",
    flexible: str = "0+",
    secret: bool = False,
) -> Any:
    """Declares a field. `nullable` narrows the versions in which an optional field may be null,
    `tagged` those in which a field with a `tag` is a tagged field; `flexible="none"` keeps the old
    length encoding of a field in flexible versions. The repr hides the value of a `secret` field.

    A tagged struct is declared optional with `nullable="none"`: it is None if it was not sent. A
    struct that can be null on the wire has a `factory` instead, because null is sent and absence is
    not.
    """
    return FieldOptions(
        default=default,
        factory=factory,
        versions=_versions(versions),
        nullable=None if nullable is None else _versions(nullable),
        tag=tag,
        tagged=_versions(tagged),
        flexible=_versions(flexible),
        secret=secret,
    )


_versions = versions


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class StructType(type):
    """Turns annotations into slots, and defaults into a constructor compiled on first use."""

    field_options: dict[str, FieldOptions]

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **keywords: Any
    ) -> StructType:
        options: dict[str, FieldOptions] = {}
        for field_name, annotation in namespace.get("__annotations__", {}).items():
            if "ClassVar" not in str(annotation):
                declared = namespace.pop(field_name)
                if not isinstance(declared, FieldOptions):
                    declared = FieldOptions(default=declared)
                options[field_name] = declared
        namespace["__slots__"] = tuple(options)
        namespace["__init__"] = _init_on_first_use
        made = super().__new__(mcs, name, bases, namespace, **keywords)
        made.field_options = options
        return made

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **_: Any):
        super().__init__(name, bases, namespace)


def _init_on_first_use(self: Any, **values: Any) -> None:
    cls: Any = type(self)
    cls.__init__ = _compile_init(cls)
    cls.__init__(self, **values)


def _compile_init(cls: StructType) -> Any:
    scope: dict[str, Any] = {"unset": _UNSET}
    parameters, body = [], []
    for name, options in (cls.field_options | Struct.field_options).items():
        if options.factory is None:
            scope[f"default_{name}"] = options.default
            parameters.append(f"{name}=default_{name}")
            body.append(f" self.{name} = {name}")
        else:
            scope[f"make_{name}"] = options.factory
            parameters.append(f"{name}=unset")
            body.append(f" self.{name} = make_{name}() if {name} is unset else {name}")
    source = "\n".join([f"def __init__(self, *, {', '.join(parameters)}):", *body])
    exec(source, scope)  # noqa: S102 - the text is made of our own declarations only
    return scope["__init__"]


class Struct(metaclass=StructType):
    """A part of a message. Mutable, compared by value. `unknown_tags` holds tagged fields of newer
    versions, so that they can be forwarded.
    """

    field_options: ClassVar[dict[str, FieldOptions]]
    unknown_tags: dict[int, bytes] | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.unknown_tags == other.unknown_tags and all(
            getattr(self, name) == getattr(other, name) for name in self.field_options
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = [
            f"{name}={'[hidden]' if options.secret else repr(getattr(self, name))}"
            for name, options in self.field_options.items()
        ]
        if self.unknown_tags:
            shown.append(f"unknown_tags={self.unknown_tags!r}")
        return f"{type(self).__name__}({', '.join(shown)})"
