"""A Dockerfile as its instructions, for tests that hold it against other files."""

import json
import re
import shlex
from dataclasses import dataclass


@dataclass(frozen=True)
class Instruction:
    """One instruction of a Dockerfile: its word, and the rest of its line."""

    word: str
    rest: str

    @property
    def values(self) -> list[str]:
        """The words of the rest, or of its JSON list, without options such as `--from=build`."""
        if self.rest.startswith("["):
            return [str(each) for each in json.loads(self.rest)]
        return [word for word in shlex.split(self.rest) if not word.startswith("--")]


def parse_dockerfile(text: str) -> list[list[Instruction]]:
    """Return the stages of a Dockerfile, each from its FROM on. Comments are left out, continued lines are joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    stages: list[list[Instruction]] = []
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            stages.append([])
        stages[-1].append(Instruction(word, rest.strip()))
    return stages
