"""`ssl.principal.mapping.rules`: the examples of KIP-371, and Java's rules of replacement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.security.principal_mapping import PrincipalMapping, PrincipalRule
from ottla.security.sasl.mechanism import AuthenticationError

KIP_371 = (
    r"RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/, "
    r"RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L, "
    r"RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/U, DEFAULT"
)


@pytest.mark.parametrize(
    ("name", "mapped"),
    [
        ("CN=Duke,OU=ServiceUsers,O=Org,C=US", "Duke"),
        ("CN=Duke,OU=SME,O=mycp,L=Fulton,ST=MD,C=US", "duke@sme"),
        ("cn=duke.x,ou=JavaSoft", "DUKE.X"),
        ("OU=nobody", "OU=nobody"),
    ],
)
def test_first_rule_that_matches_maps_the_name(name: str, mapped: str) -> None:
    assert PrincipalMapping.parse(KIP_371).name_of(name) == mapped


def map_one(rule: str, name: str) -> str:
    return PrincipalMapping.parse(rule).name_of(name)


@pytest.mark.parametrize(
    ("rule", "name", "mapped"),
    [
        ("DEFAULT", "CN=a", "CN=a"),
        (" DEFAULT ,", "CN=a", "CN=a"),
        (",,DEFAULT", "CN=a", "CN=a"),
        (r"RULE:CN=(\w+)/$1/", "CN=a", "a"),
        (r"RULE:CN=(\w+)/$0!/", "CN=a", "CN=a!"),
        (r"RULE:CN=(\w+)/$1$2/", "CN=a", "a$2"),
        (r"RULE:CN=(\w+)/$12/", "CN=a", "a2"),
        (r"RULE:CN=(\w+)/\$1\\/", "CN=a", "$1\\"),
        (r"RULE:CN=(\w+)|OU=(\w+)/<$1$2>/", "OU=b", "<b>"),
        (r"RULE:CN=a\/b/x\/y/", "CN=a/b", "x/y"),
        (r"RULE:CN=(.{1,3}),.*/$1/", "CN=abc,O=x", "abc"),
        (r"RULE:CN=(\w+)//", "CN=a", ""),
    ],
)
def test_replacement_is_javas(rule: str, name: str, mapped: str) -> None:
    assert map_one(rule, name) == mapped


def test_rule_must_match_the_whole_name() -> None:
    with pytest.raises(AuthenticationError, match="no rule") as caught:
        map_one("RULE:CN=(a)/$1/", "CN=ab")
    assert "CN=ab" not in caught.value.message
    assert "CN=ab" in caught.value.reason


@pytest.mark.parametrize(
    "rules",
    ["default", "DEFAULT2", "RULE:a", "RULE:a/b", "RULE:a/b/X", "RULE:a/b/L x", "x,DEFAULT"],
)
def test_malformed_rule_is_refused(rules: str) -> None:
    with pytest.raises(ValueError, match="neither DEFAULT nor RULE"):
        PrincipalMapping.parse(rules)


@pytest.mark.parametrize("pattern", ["(", "[a", r"\p{Lower}", "a{2,1}"])
def test_pattern_that_python_lacks_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="not a regular expression that Ottla supports"):
        PrincipalMapping.parse(f"RULE:{pattern}/x/")


@given(st.text(alphabet="RULE:DFAT/$1\\,LU ()*a.") | st.text())
def test_any_text_raises_only_value_errors(text: str) -> None:
    rules: tuple[PrincipalRule, ...] = ()
    try:
        rules = PrincipalMapping.parse(text).rules
    except ValueError as error:
        assert "ssl.principal.mapping.rules" in str(error)  # noqa: PT017
    assert isinstance(rules, tuple)
