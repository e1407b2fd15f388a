"""Which columns a schema asks for, and what it cannot ask for."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from ottla.pipeline.reading.columns import SourceColumn, choose
from ottla.pipeline.reading.errors import OptionError

PAIR = StructType([StructField("key", StringType()), StructField("value", BinaryType())])


def schema(name: str, kind: DataType, *, is_nullable: bool = True) -> StructType:
    return StructType([StructField(name, kind, is_nullable)])


def test_columns_come_in_the_order_of_the_schema() -> None:
    offset, key = StructField("offset", LongType(), False), StructField("key", BinaryType())
    chosen = choose(StructType([offset, key]), include_headers=False)
    assert chosen == (
        SourceColumn("offset", is_nullable=False),
        SourceColumn("key", is_nullable=True),
    )


def test_headers_are_a_column_where_they_are_included() -> None:
    wanted = schema("headers", ArrayType(PAIR))
    assert choose(wanted, include_headers=True) == (SourceColumn("headers", is_nullable=True),)
    with pytest.raises(OptionError, match="set includeHeaders to true"):
        choose(wanted, include_headers=False)


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (
            schema("origin", StringType()),
            "a column origin, but records have only key, value, topic",
        ),
        (schema("value", StringType()), "value as string, but it is binary: declare it as that"),
        (schema("key", BinaryType(), is_nullable=False), "a record may have none"),
    ],
)
def test_what_records_do_not_have_is_refused(wanted: StructType, reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        choose(wanted, include_headers=False)
