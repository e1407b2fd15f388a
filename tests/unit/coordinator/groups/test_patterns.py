"""Regular expressions of clients: what they match, and that they never take long."""

from __future__ import annotations

import re
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.coordinator.groups.consumer import pattern
from ottla.coordinator.groups.consumer.pattern import Pattern, PatternError
from ottla.coordinator.groups.consumer.regular_expression import check_regex
from ottla.model import ErrorCode, KafkaError


def expressions() -> st.SearchStrategy[str]:
    atoms = st.sampled_from(
        ["a", "b", "-", ".", r"\.", "[ab]", "[^a]", "[a-b0-9]", r"\d", r"\w", r"[\d_.-]", r"\-"]
    )
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map("".join),
            st.tuples(inner, inner).map("|".join),
            inner.map("({})".format),
            inner.map("(?:{})".format),
            st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,2}", "*?"])).map(
                lambda pair: f"({pair[0]}){pair[1]}"
            ),
        ),
        max_leaves=6,
    )


@given(expressions(), st.lists(st.text("ab1._-", max_size=6), max_size=20))
@settings(max_examples=400, deadline=None)
def test_it_matches_what_python_matches(regex: str, names: list[str]) -> None:
    judge = re.compile(regex, re.ASCII)
    found = Pattern(regex)
    for name in names:
        assert found.matches(name) is bool(judge.fullmatch(name)), name


@given(expressions(), st.lists(st.text("ab1._-", max_size=6), max_size=20))
@settings(max_examples=100, deadline=None)
def test_it_matches_the_same_when_nothing_fits_into_its_tables(
    regex: str, names: list[str]
) -> None:
    judge = re.compile(regex, re.ASCII)
    found = Pattern(regex)
    with patch.object(pattern, "_TRANSITIONS_MAX", 1):
        for name in names:
            assert found.matches(name) is bool(judge.fullmatch(name)), name


@pytest.mark.parametrize(
    ("regex", "name", "expected"),
    [
        ("", "", True),
        ("", "a", False),
        ("orders.*", "orders-eu", True),
        ("orders.*", "my-orders", False),
        ("^orders$", "orders", True),
        (r"\Aorders\z", "orders", True),
        ("a^b", "ab", False),
        (r"\Qa.b\E.", "a.bc", True),
        (r"\Qa.b\E.", "axbc", False),
        ("(?P<name>a|b)+", "abba", True),
        ("a{,2}", "a{,2}", True),
        ("[]a]+", "]a]", True),
        ("[a-]+", "a-a", True),
    ],
)
def test_corners_of_the_syntax(regex: str, name: str, expected: bool) -> None:
    assert Pattern(regex).matches(name) is expected


@pytest.mark.parametrize(
    "regex",
    [
        "(",
        ")",
        "a)",
        "a**",
        "a+{2}",
        "a*?*",
        "[a",
        "*a",
        "a{2,1}",
        "a{1001}",
        r"\1(a)",
        "(?=a)",
        "(?<!a)",
        "[b-a]",
        "\\",
    ],
)
def test_what_is_no_regular_expression_is_refused(regex: str) -> None:
    with pytest.raises(PatternError):
        Pattern(regex)
    with pytest.raises(KafkaError) as refused:
        check_regex(regex)
    assert refused.value.code == ErrorCode.INVALID_REGULAR_EXPRESSION


@pytest.mark.parametrize("regex", ["(a+)+b", "(a|a)*b", "(a*)*b", "((a?){20}){20}b"])
def test_what_would_backtrack_for_ever_is_over_at_once(regex: str) -> None:
    assert not Pattern(regex).matches("a" * 249)


@pytest.mark.parametrize(
    "regex",
    [
        "((a{100}){100}){100}",
        "a" * 1_001,
        "(" * 500 + ")" * 500,
        "a" + "*" * 999,
        "a{1}" + "{1}" * 300,
        "(a?){501}",
    ],
)
def test_what_would_take_all_memory_is_refused(regex: str) -> None:
    with pytest.raises(PatternError):
        Pattern(regex)


def test_repetitions_of_nothing_are_compiled_at_once() -> None:
    assert Pattern("(((){1000}){1000}){1000}").matches("")


@pytest.mark.parametrize("regex", ["(.*a){200}b", "[ab]*a[ab]{200}", "(a|b|c){100}", ".{0,249}"])
def test_what_is_kept_of_names_is_bounded(regex: str) -> None:
    found = Pattern(regex)
    for number in range(200):
        found.matches(f"{number:0200b}".replace("0", "a").replace("1", "b"))
    assert len(found._states) <= pattern._TRANSITIONS_MAX + 1
    assert sum(map(len, found._followers)) <= 15 * len(found._followers)
