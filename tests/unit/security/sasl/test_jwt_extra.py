"""Without the extra `ottla[security]`, OAUTHBEARER says what to install."""

import sys

import pytest

from ottla.security.sasl.jwt import JwtVerifier
from ottla.security.sasl.jwt_claims import ClaimSettings


@pytest.mark.parametrize("package", ["jwt", "cryptography"])
def test_missing_package_is_named_with_the_extra(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r"pip install 'ottla\[security\]'"):
        JwtVerifier(ClaimSettings())
