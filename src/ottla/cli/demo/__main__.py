"""`python -m ottla.cli.demo`."""

from __future__ import annotations

import sys

from ottla.cli.demo.story import tell
from ottla.cli.exit_codes import CommandError
from ottla.cli.terminal import open_terminal

try:
    tell()
except CommandError as error:
    open_terminal().complain(error)
    sys.exit(error.exit_code)
