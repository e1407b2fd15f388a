"""A config as an attribute with a Python type.

    num_partitions = Setting[int]("num.partitions")

in a class whose items are configs, `config.num_partitions` returns `config["num.partitions"]`.
The type is not checked at run time; a test compares it with the definition.
"""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

from ottla.configs.value import ConfigValue

T_co = TypeVar("T_co", bound=ConfigValue, covariant=True)


class _HasConfigs(Protocol):
    def __getitem__(self, name: str, /) -> ConfigValue: ...


class Setting(Generic[T_co]):
    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, owner: _HasConfigs, owner_type: type) -> T_co:
        value: Any = owner[self.name]
        return value  # type: ignore[no-any-return]
