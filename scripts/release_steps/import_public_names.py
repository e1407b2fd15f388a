"""Imports every public name, in an environment that may have nothing but the package."""

import sys
from importlib import import_module
from pathlib import Path

for line in Path(sys.argv[1]).read_text().split():
    package, _, name = line.rpartition(".")
    getattr(import_module(package), name)
