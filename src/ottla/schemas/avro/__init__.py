"""Avro schemas: names resolved, written in the forms that registries compare, and compared."""
