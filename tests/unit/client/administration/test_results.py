"""The outcomes of several items."""

from __future__ import annotations

import pytest

from ottla.client import Results, TopicAlreadyExistsError
from ottla.client.administration.requests import node_error
from ottla.model import ErrorCode

EXISTS = node_error(ErrorCode.TOPIC_ALREADY_EXISTS)
RESULTS: Results[str, int | None] = Results({"a": 1, "b": EXISTS, "c": None})


def test_an_item_is_its_value_or_raises_its_error() -> None:
    assert RESULTS["a"] == 1
    assert RESULTS["c"] is None
    with pytest.raises(TopicAlreadyExistsError, match="topic already exists"):
        _ = RESULTS["b"]
    with pytest.raises(KeyError):
        _ = RESULTS["d"]


def test_values_and_errors_are_apart() -> None:
    assert RESULTS.succeeded == {"a": 1, "c": None}
    assert RESULTS.failed == {"b": EXISTS}
    assert (RESULTS.error("a"), RESULTS.error("b")) == (None, EXISTS)
    assert list(RESULTS) == ["a", "b", "c"]
    assert len(RESULTS) == 3
    assert "b" in RESULTS


def test_all_raises_the_first_error() -> None:
    with pytest.raises(TopicAlreadyExistsError):
        RESULTS.all()
    assert Results({"a": 1}).all() == {"a": 1}


def test_get_has_a_default_for_what_failed() -> None:
    assert RESULTS.get("a") == 1
    assert RESULTS.get("b", 7) == 7
    assert RESULTS.get("d") is None


def test_an_error_without_a_message_has_the_words_of_its_name() -> None:
    assert str(node_error(ErrorCode.GROUP_ID_NOT_FOUND)) == "GROUP_ID_NOT_FOUND: group id not found"
    assert "error code 9999" in str(node_error(9_999))
