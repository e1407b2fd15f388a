"""`TOPIC` or `TOPIC:0,1`."""

import pytest

from ottla.cli.arguments.partition_names import parse_partitions
from ottla.cli.exit_codes import CommandError


@pytest.mark.parametrize(
    ("text", "partitions"),
    [("orders", ("orders", [])), ("orders:3", ("orders", [3])), ("a:0,12", ("a", [0, 12]))],
)
def test_partitions_stand_behind_the_topic(text: str, partitions: tuple[str, list[int]]) -> None:
    assert parse_partitions(text, what="--topic") == partitions


@pytest.mark.parametrize("text", ["", ":0", "orders:", "orders:a", "orders:0,", "orders:-1"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="write TOPIC or TOPIC:0,1"):
        parse_partitions(text, what="--topic")
