"""The question for the code of a room to join or to watch."""

import re
from typing import Final

from fairest_cli.tui.screens.text_prompt import TextPrompt
from fairest_cli.untrusted_text import clean

EXAMPLE: Final = "quiet-amber-otter"
CODE: Final = re.compile(r"[a-z]+(-[a-z]+){1,5}")


class RoomCodePrompt(TextPrompt):
    """Dismissed with what was typed, which `read_code` takes, or with None. A code that cannot be one stays."""

    def __init__(self, what_for: str, typed: str = "", what: str = "room") -> None:
        """`what_for` is `join` or `watch`; `typed` is what was typed before; `what` has the code."""
        super().__init__(f"Code of the {what} to {what_for}, such as {EXAMPLE}", typed, refusal=refuse_code)


def read_code(typed: str) -> str:
    """Return what was typed as a code: in lower case, with hyphens, which blanks may stand for."""
    return "-".join(typed.lower().replace("-", " ").split())


def refuse_code(typed: str) -> str:
    """Return why what was typed is not a room's code, or nothing."""
    code = read_code(typed)
    if CODE.fullmatch(code):
        return ""
    if not code:
        return f"Type the words of the code, such as {EXAMPLE}, or Esc to go back."
    wrong = sorted(set(re.sub("[a-z-]", "", code)))
    if wrong:
        return f"A code has only letters and hyphens, and this one has {clean(' '.join(wrong))}"
    words = code.count("-") + 1
    return f"A code has two to six words, such as {EXAMPLE}, and this one has {words}: {clean(code)}"
