"""PEM texts from properties files, where continued lines are joined with spaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.configs.java_properties import parse_properties
from ottla.configs.pem import with_line_breaks
from tests.support.security.certificates import Authority

HEADERS = """-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED

AAAA
-----END RSA PRIVATE KEY-----
"""


@pytest.fixture
def pem(tmp_path: Path) -> str:
    """A key and two certificates."""
    return Authority(tmp_path).issue("node").keystore.read_text()


@pytest.mark.parametrize(
    "end", [" \\\n", " \\\n   ", "\\n\\\n"], ids=["spaces", "indented", "escaped"]
)
def test_continued_lines_become_lines_again(pem: str, end: str) -> None:
    written = f"ssl.keystore.key={end.join(pem.splitlines())}\n"
    (read,) = parse_properties(written).values()
    assert with_line_breaks(read) == pem


@pytest.mark.parametrize("text", ["", "no PEM", HEADERS, f"some text\n{HEADERS}"])
def test_what_is_no_plain_block_stays_as_it_is(text: str) -> None:
    assert with_line_breaks(text) == text


def test_lines_of_any_length_become_those_of_pem(pem: str) -> None:
    joined = pem.replace("\n", "")
    assert with_line_breaks(joined) == pem
    assert with_line_breaks(pem) == pem
    assert with_line_breaks(f"Bag Attributes\n{pem}") == f"Bag Attributes\n{pem}"
