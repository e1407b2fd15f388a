"""SCRAM credentials and what they are made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.configs.value import Password
from ottla.security.sasl.scram_credential import (
    SCRAM_BY_NAME,
    ScramMechanism,
    base_36,
    credential_of_salted_password,
    derived_text,
    make_credential,
    random_text,
    salt_password,
)


def test_mechanisms_have_kafkas_codes() -> None:
    assert {each.mechanism.value: each.value for each in ScramMechanism} == {
        "SCRAM-SHA-256": 1,
        "SCRAM-SHA-512": 2,
    }
    assert SCRAM_BY_NAME["SCRAM-SHA-512"] is ScramMechanism.SCRAM_SHA_512


@pytest.mark.parametrize("mechanism", ScramMechanism)
def test_credential_of_a_request_is_that_of_the_password(mechanism: ScramMechanism) -> None:
    password = Password("pencil")
    salted = salt_password(mechanism.hash_name, password, salt=b"s", iterations=8192)
    made = credential_of_salted_password(mechanism, salted, salt=b"s", iterations=8192)
    assert made == make_credential(mechanism, password, salt=b"s", iterations=8192)
    assert len(made.stored_key) == len(made.server_key) == len(salted)


@pytest.mark.parametrize("iterations", [-1, 0, 4095, 16_385, 2**31 - 1])
def test_iterations_have_kafkas_limits(iterations: int) -> None:
    with pytest.raises(ValueError, match="from 4096 to 16384"):
        credential_of_salted_password(
            ScramMechanism.SCRAM_SHA_256, bytes(32), salt=b"s", iterations=iterations
        )


@pytest.mark.parametrize(("salted", "salt"), [(b"", b"s"), (bytes(64), b"s"), (bytes(32), b"")])
def test_credential_that_no_client_sends_is_refused(salted: bytes, salt: bytes) -> None:
    with pytest.raises(ValueError, match=r"bytes|empty"):
        credential_of_salted_password(
            ScramMechanism.SCRAM_SHA_256, salted, salt=salt, iterations=4096
        )


@given(st.integers(min_value=0, max_value=2**130 - 1))
def test_base_36_is_pythons(number: int) -> None:
    assert int(base_36(number), 36) == number


def test_random_text_has_130_bits_of_the_callers_dice() -> None:
    bounds: list[int] = []

    def below(bound: int) -> int:
        bounds.append(bound)
        return bound - 1

    assert int(random_text(below), 36) == 2**130 - 1
    assert bounds == [2**130]


def test_derived_text_depends_on_every_part() -> None:
    assert derived_text(b"k", b"a", b"b") == derived_text(b"k", b"a", b"b")
    others = [
        derived_text(b"l", b"a", b"b"),
        derived_text(b"k", b"ab", b""),
        derived_text(b"k", b"a", b"c"),
    ]
    assert len({derived_text(b"k", b"a", b"b"), *others}) == 4
