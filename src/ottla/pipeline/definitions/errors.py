"""The errors of definitions and their connectors."""

from __future__ import annotations


class DefinitionError(ValueError):
    """A mistake in a pipeline's module, found before anything runs."""


class MissingPackageError(RuntimeError):
    """A connector needs a package that is not installed."""


class UnwritableRowError(ValueError):
    """A row that the sink's format cannot represent."""
