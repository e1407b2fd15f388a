"""Error codes are Kafka's."""

from ottla.model import ErrorCode
from tests.support.kafka.protocol_table import read_table


def test_every_error_has_kafkas_code_name_and_retriability() -> None:
    ours = {str(code.value): [code.name, code.retriable] for code in ErrorCode}
    assert ours == read_table("errors")
