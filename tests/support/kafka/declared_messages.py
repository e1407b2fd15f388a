"""Every message that is declared in source, by the name that the protocol's table has for it."""

import pkgutil
from functools import cache
from importlib import import_module
from types import ModuleType

from ottla.wire import messages, stored
from ottla.wire.schema import Message
from tests.support.kafka.protocol_classes import table_class
from tests.support.kafka.protocol_table import message_class_name, message_names


@cache
def declared_messages() -> dict[str, type[Message]]:
    classes = {
        name: found
        for package in (messages, stored)
        for module in _modules(package)
        for name, found in vars(module).items()
        if isinstance(found, type) and issubclass(found, Message) and found is not Message
    }
    by_table_name = {message_class_name(name): name for name in message_names()}
    return {by_table_name[name]: found for name, found in classes.items()}


def class_for(name: str, version: int) -> type[Message]:
    """The class in source, or one made of the table where the version is not declared."""
    declared = declared_messages().get(name)
    return declared if declared and version in declared.versions else table_class(name)


def _modules(package: ModuleType) -> list[ModuleType]:
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [import_module(module.name) for module in found]
