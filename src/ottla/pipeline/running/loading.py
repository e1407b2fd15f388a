"""Loads a pipeline's file into a registry."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from pathlib import Path

from ottla.pipeline.definitions.errors import DefinitionError
from ottla.pipeline.definitions.registry import Registry, registering


def load(path: Path) -> Registry:
    """Executes the module, whose decorators fill the registry. Raises DefinitionError."""
    if not path.exists():
        raise DefinitionError(f"{path} does not exist")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise DefinitionError(f"{path} is not a Python file; its name has to end in .py")
    module = importlib.util.module_from_spec(spec)
    registry = Registry()
    # A pipeline may import modules beside its file. They are unloaded afterwards, because another
    # pipeline may have a module of the same name.
    directory = str(path.parent.resolve())
    before = set(sys.modules)
    sys.path.insert(0, directory)
    try:
        with registering(registry):
            spec.loader.exec_module(module)
    except DefinitionError:
        raise
    except Exception as error:
        raise DefinitionError(f"{path}: {_where(error, path)}") from error
    finally:
        sys.path.remove(directory)
        for name in set(sys.modules) - before:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(directory + os.sep):
                del sys.modules[name]
    if not registry.sinks:
        raise DefinitionError(f"{path} defines no sink, so there is nothing to run; add one: @sink")
    return registry


def _where(error: Exception, path: Path) -> str:
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    place = f"line {lines[-1]}: " if lines else ""
    return f"{place}{type(error).__name__}: {error}"
