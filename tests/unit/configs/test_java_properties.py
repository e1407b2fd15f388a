from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.configs.java_properties import format_properties, parse_properties


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("a=1\nb=2\n", {"a": "1", "b": "2"}),
        ("#\n#Thu Jan 01 00:00:00 UTC 1970\n! also a comment\na=1", {"a": "1"}),
        ("a : 1\r\nb 2\rc", {"a": "1", "b": "2", "c": ""}),
        ("  a =  one two  \n", {"a": "one two  "}),
        ("a=one\\\n   two", {"a": "onetwo"}),
        ("a=one\\\\\nb=2", {"a": "one\\", "b": "2"}),
        ("a\\ b\\=c=d\\:e\\u0041\\tf", {"a b=c": "d:eA\tf"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=b=c", {"a": "b=c"}),
        ("=b", {"": "b"}),
        ("a=1\\", {"a": "1"}),
    ],
)
def test_text_is_read_as_java_reads_it(text: str, properties: dict[str, str]) -> None:
    assert parse_properties(text) == properties


def test_properties_are_written_sorted_and_escaped() -> None:
    properties = {"b": " x=1:2", "a b": "tab\tline\nback\\slash#!"}
    assert format_properties(properties) == (
        "a\\ b=tab\\tline\\nback\\\\slash\\#\\!\nb=\\ x\\=1\\:2\n"
    )


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_what_is_written_reads_back(properties: dict[str, str]) -> None:
    assert parse_properties(format_properties(properties)) == properties


@given(st.text(alphabet="ab=:#! \t\f\\\r\nu0041"))
def test_any_text_means_something(text: str) -> None:
    parse_properties(text)
