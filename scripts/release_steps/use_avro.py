"""`ottla[avro]`: a record is written and read. In a pipeline Spark does this, which is an extra of
its own."""

from ottla.pipeline.definitions.avro_columns import read_record, write_record
from ottla.pipeline.definitions.avro_schema import parse_record

SCHEMA = '{"type": "record", "name": "Order", "fields": [{"name": "fruit", "type": "string"}]}'

schema = parse_record(SCHEMA)
order = {"fruit": "apple"}
assert read_record(write_record(order, schema), schema) == (order, None)
