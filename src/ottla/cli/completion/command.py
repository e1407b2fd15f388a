"""`ottla completion`: the script by which a shell completes commands and options."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final

import typer

PROGRAM: Final = "ottla"
# With it in its environment the program answers a shell instead of running a command (`main.run`).
VARIABLE: Final = "_OTTLA_COMPLETE"
# In which shells pass what was typed so far: the first is bash's, the second zsh's and fish's.
_TYPED: Final = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="bash|zsh|fish", show_default=False)],
) -> None:
    r"""Print the script by which a shell completes the commands and options of ottla.

    \b
      bash  source <(ottla completion bash)     in ~/.bashrc
      zsh   source <(ottla completion zsh)      in ~/.zshrc, after compinit
      fish  ottla completion fish > ~/.config/fish/completions/ottla.fish
    """
    from typer._completion_shared import get_completion_script

    typer.echo(get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell.value))


def prepare_answers() -> None:
    """Lets the program answer shells."""
    from typer._completion_classes import completion_init

    completion_init()


def typed_command(environment: Mapping[str, str] = os.environ) -> str:
    """The command whose options are to be completed; empty if it is not typed yet."""
    for name in _TYPED:
        words = environment.get(name, "").split()
        if words:
            return words[1] if len(words) > 1 else ""
    return ""
