"""`python -m ottla.cli.demo`."""

from __future__ import annotations

import sys

from ottla.cli.demo.story import run
from ottla.cli.display.terminal import open_terminal
from ottla.cli.exit_codes import CommandError

try:
    run()
except CommandError as error:
    open_terminal().complain(error)
    sys.exit(error.exit_code)
