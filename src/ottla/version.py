"""The version of Ottla. The only place that has it: the build reads it from here."""

__version__ = "0.1.0"
