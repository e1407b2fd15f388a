"""Names that a package re-exports and imports when they are first used (PEP 562).

So `import ottla` takes less than a millisecond, and only programs that use Spark import it.

A package calls `lazy_names` for the interpreter and imports the same names under `TYPE_CHECKING`
for type checkers, which would accept any name of a package that has a visible `__getattr__`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package. `modules` maps each name to the module that it is
    imported from; a name that maps to a module of its own name is that module."""

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(modules[name])
        found = module if modules[name] == f"{package}.{name}" else getattr(module, name)
        # Python looks here first, so this function is called once per name.
        setattr(sys.modules[package], name, found)
        return found

    def names() -> list[str]:
        dunders = {name for name in vars(sys.modules[package]) if name.startswith("__")}
        return sorted(dunders | modules.keys())

    return get, names
