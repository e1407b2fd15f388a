"""Errors in words."""

import pytest

from ottla.cli.connection.cluster_errors import refused, unknown_broker, unknown_config
from ottla.cli.exit_codes import ExitCode
from ottla.client.administration.requests import node_error
from ottla.client.errors import ClientError, ConnectionFailedError, TimedOutError
from ottla.model import ErrorCode


def test_a_refusal_says_what_was_tried_and_why_not() -> None:
    error = refused(
        "create topic orders",
        node_error(ErrorCode.TOPIC_ALREADY_EXISTS, "Topic 'orders' already exists."),
    )
    assert error.message == (
        "Cannot create topic orders: Topic 'orders' already exists (TOPIC_ALREADY_EXISTS)."
    )
    assert error.hints == ("Add --if-not-exists to accept a topic that exists.",)
    assert error.exit_code == ExitCode.REFUSED


def test_a_refusal_without_words_has_those_of_its_name() -> None:
    error = refused("read", node_error(ErrorCode.OFFSET_OUT_OF_RANGE))
    assert error.message == "Cannot read: offset out of range (OFFSET_OUT_OF_RANGE)."


@pytest.mark.parametrize(
    "silence", [TimedOutError("no success within 30.0 s"), ConnectionFailedError("node 1 is down")]
)
def test_silence_is_no_refusal(silence: ClientError) -> None:
    error = refused("produce to orders", silence)
    assert error.exit_code == ExitCode.UNREACHABLE
    assert "broker is running" in error.hints[-1]


def test_unknown_configs_have_near_names() -> None:
    error = unknown_config("topic orders", "retention.msec", ["retention.ms", "cleanup.policy"])
    assert error.message == "There is no config retention.msec of topic orders."
    assert error.hints[0] == "Did you mean retention.ms?"


def test_unknown_brokers_are_refused_with_the_known_ones() -> None:
    assert unknown_broker(7, [2, 1]).message.endswith("its brokers are 1, 2.")
