import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.configs import (
    BROKER_CONFIGS,
    GROUP_CONFIGS,
    TOPIC_CONFIGS,
    ConfigType,
    InvalidConfigError,
    Password,
)
from ottla.configs.value import format_value, parse_value
from ottla.model import ErrorCode
from tests.support.kafka.config_fixtures import Verdict, verdicts

DECLARED = {
    "topic value": TOPIC_CONFIGS,
    "broker value": BROKER_CONFIGS,
    "group value": GROUP_CONFIGS,
}


@pytest.mark.parametrize("verdict", [each for kind in DECLARED for each in verdicts(kind)], ids=str)
def test_texts_mean_what_they_mean_to_kafka(verdict: Verdict) -> None:
    name, text = verdict.question["name"], verdict.question["value"]
    definition = DECLARED[verdict.question["kind"]][name]
    if verdict.refusal is None:
        assert format_value(definition.parse(text)) == verdict.answer
    else:
        with pytest.raises(InvalidConfigError) as refused:
            definition.parse(text)
        assert refused.value.message.startswith("Invalid value ")
        assert f" for configuration {name}: " in refused.value.message


def test_refusals_say_what_is_allowed() -> None:
    with pytest.raises(InvalidConfigError) as refused:
        TOPIC_CONFIGS["compression.type"].parse("zip")
    assert refused.value.code is ErrorCode.INVALID_CONFIG
    assert refused.value.message == (
        "Invalid value zip for configuration compression.type: "
        "String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer"
    )


def test_nothing_shows_a_password() -> None:
    value = parse_value(ConfigType.PASSWORD, " secret ")
    assert value == Password("secret")
    assert "secret" not in f"{value} {value!r}"
    assert format_value(value) is None


def test_control_characters_at_the_ends_count_as_white_space() -> None:
    assert parse_value(ConfigType.STRING, "\x00\t a b\x1f\n ") == "a b"


def test_a_number_of_a_million_digits_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="Not a number of type LONG"):
        parse_value(ConfigType.LONG, "1" * 1_000_000)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (-123456789.0, "-1.23456789E8"),
        (1e-5, "1.0E-5"),
        (1.5e300, "1.5E300"),
        (sys.float_info.max, "1.7976931348623157E308"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_doubles_are_printed_as_java_prints_them(value: float, text: str) -> None:
    assert format_value(value) == text
    assert parse_value(ConfigType.DOUBLE, text) == value


@given(st.floats(allow_nan=False))
def test_a_printed_double_means_the_double(value: float) -> None:
    text = format_value(value)
    assert text is not None
    assert parse_value(ConfigType.DOUBLE, text) == value


@given(st.sampled_from(ConfigType), st.text())
def test_no_text_raises_anything_but_a_value_error(config_type: ConfigType, text: str) -> None:
    if config_type is not ConfigType.UNKNOWN:
        with suppress(ValueError):
            parse_value(config_type, text)
