"""`ottla consume --format`."""

import pytest

from ottla.cli.consume.output import Shown, as_bytes, as_hexadecimal
from ottla.cli.consume.record_format import RecordFormat, choose_line
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.records import ConsumedRecord
from ottla.wire.records.header import TimestampType

NOTHING_SHOWN = Shown(timestamp=False, offset=False, headers=False, key=False)


def message(value: bytes | None = b"apples") -> ConsumedRecord:
    headers = (("a", b"1"), ("b", None))
    kind = TimestampType.CREATE_TIME
    return ConsumedRecord("orders", 1, 42, 1_794_817_800_250, kind, b"bob", value, headers)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (r"%t %p %o %k %v %h %T\n", b"orders 1 42 bob apples a=1,b=null 1794817800250\n"),
        ("%K:%V", b"3:6"),
        ("100%%", b"100%"),
        (r"%k\t\r\\\x00\x7F%v", b"bob\t\r\\\x00\x7fapples"),
        ("ä%vß", "äapplesß".encode()),
        ("", b""),
    ],
)
def test_directives_and_escapes_are_replaced(template: str, text: bytes) -> None:
    assert RecordFormat(template, as_bytes)(message()) == text


def test_a_missing_value_is_null_with_a_length_of_its_own() -> None:
    assert RecordFormat("%v %V", as_bytes)(message(None)) == b"null -1"


def test_hexadecimal_holds_for_keys_values_and_headers() -> None:
    assert RecordFormat("%k %v %h", as_hexadecimal)(message(b"\xff")) == b"626f62 ff a=31,b=null"


@pytest.mark.parametrize("template", ["%s", "%x", "%", r"\q", r"\x1", r"\xZZ", "\\"])
def test_an_unknown_directive_is_an_error(template: str) -> None:
    with pytest.raises(CommandError) as raised:
        RecordFormat(template, as_bytes)
    assert raised.value.exit_code is ExitCode.USAGE
    assert "unknown directive" in raised.value.message


def test_directives_of_kcat_are_explained() -> None:
    with pytest.raises(CommandError) as raised:
        RecordFormat("%s", as_bytes)
    assert raised.value.hints[0] == "%s is a directive of kcat: write %v instead."


def test_options_that_say_the_same_are_refused() -> None:
    with pytest.raises(CommandError):
        choose_line(NOTHING_SHOWN, "%v", is_terminal=False, as_json=True, as_hex=False)
    with pytest.raises(CommandError):
        choose_line(
            NOTHING_SHOWN._replace(key=True), "%v", is_terminal=False, as_json=False, as_hex=False
        )
