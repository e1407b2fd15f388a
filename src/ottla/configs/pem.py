"""PEM texts in the form that OpenSSL reads.

In a properties file, a line that ends in a backslash is joined with the next one, so that Kafka's
`ssl.keystore.key` and the like often have spaces where PEM has line breaks. Kafka accepts that, and
OpenSSL does not.
"""

from __future__ import annotations

import re
from textwrap import wrap
from typing import Final

# Without headers, which only the older forms of encrypted keys have.
_BLOCK: Final = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----\s*")
_LINE_CHARACTERS: Final = 64


def with_line_breaks(pem: str) -> str:
    """Everything outside of PEM blocks, and blocks with headers, are left as they are."""
    return _BLOCK.sub(_broken_into_lines, pem)


def _broken_into_lines(block: re.Match[str]) -> str:
    kind, data = block[1], "".join(block[2].split())
    lines = (f"-----BEGIN {kind}-----", *wrap(data, _LINE_CHARACTERS), f"-----END {kind}-----")
    return "".join(f"{line}\n" for line in lines)
