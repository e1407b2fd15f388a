"""`sasl.jaas.config` as Kafka reads it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.security.jaas import parse_jaas

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def test_entry_of_kafkas_documentation_is_read() -> None:
    entry = parse_jaas(
        f'{PLAIN} required \\\n username="admin"'.replace("\\\n", "\n")
        + ' password="admin-secret" user_admin="admin-secret" user_alice="alice-secret";'
    )
    assert (entry.login_module, entry.module_name) == (PLAIN, "PlainLoginModule")
    assert entry.options == {
        "username": "admin",
        "password": "admin-secret",
        "user_admin": "admin-secret",
        "user_alice": "alice-secret",
    }


def test_an_entry_needs_no_options_and_any_control_flag() -> None:
    for flag in ("required", "REQUISITE", "Sufficient", "optional"):
        assert parse_jaas(f"a.B {flag};").options == {}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("abc", "abc"),
        ("a-b_c$d.e1", "a-b_c$d.e1"),
        ("true", "true"),
        ('""', ""),
        ('"a b;c=d/e//f"', "a b;c=d/e//f"),
        ("'a\"b'", 'a"b'),
        ('"a\'b"', "a'b"),
        (r'"a\"b\\c"', 'a"b\\c'),
        (r'"\t\n\141\60\7x\4000"', "\t\na0\x07x\x20" + "00"),
        (r'"\q"', "q"),
        ('"päss"', "päss"),
        ("päss", "päss"),
    ],
)
def test_values_are_words_or_quoted(text: str, value: str) -> None:
    assert parse_jaas(f"a.B required o={text};").options == {"o": value}


def test_comments_and_blanks_are_skipped() -> None:
    text = "/* one\n two */ a.B // three\n required\to = 'x' /four\n p=/**/y;/ end"
    assert parse_jaas(text).options == {"o": "x", "p": "y"}


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("", "class of a login module"),
        (";", "class of a login module"),
        ("a.B", "`required`"),
        ("a.B;", "`required`"),
        ("a.B needed;", "`required`"),
        ("a.B required", "semicolon"),
        ("a.B required =x;", "semicolon"),
        ("a.B required o;", "each option"),
        ("a.B required o=;", "each option"),
        ("a.B required o=", "each option"),
        ("a.B required o", "each option"),
        ("a.B required o=topsecret x;", "each option"),
        ('a.B required o="topsecret"x;', "each option"),
        ("a.B required o=1topsecret;", "quote what"),
        ("a.B required o=top@secret;", "quote what"),
        ('a.B required o="topsecret;', "quote what"),
        ('a.B required o="top\nsecret";', "quote what"),
        ("a.B required /* o=topsecret;", "quote what"),
        ("a.B required; a.C required;", "one login module"),
        ("a.B required;;", "one login module"),
    ],
)
def test_broken_entry_is_refused_without_showing_it(text: str, advice: str) -> None:
    with pytest.raises(ValueError, match=r"sasl\.jaas\.config is wrong at character") as caught:
        parse_jaas(text)
    assert advice in str(caught.value)
    assert "secret" not in str(caught.value)


def test_options_are_in_no_repr() -> None:
    assert "topsecret" not in repr(parse_jaas('a.B required password="topsecret";'))


@given(st.text(alphabet="aB.1\"'\\=;/* \n@") | st.text())
def test_any_text_raises_only_value_errors(text: str) -> None:
    module = None
    try:
        module = parse_jaas(text).login_module
    except ValueError as error:
        assert text.strip() == "" or len(text) < 20 or text not in str(error)  # noqa: PT017
    assert module is None or module


@given(st.dictionaries(st.from_regex(r"[a-z_][a-zA-Z0-9_]*", fullmatch=True), st.text()))
def test_quoted_options_come_back(options: dict[str, str]) -> None:
    pairs = " ".join(f'{name}="{_escaped(value)}"' for name, value in options.items())
    assert parse_jaas(f"a.B required {pairs};").options == options


def _escaped(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return escaped.replace("\n", "\\n").replace("\r", "\\r")
