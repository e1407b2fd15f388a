"""Schemas as a registry stores them in its topic: records, subjects, versions, ids."""
