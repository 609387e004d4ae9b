"""Modules joined into one script do what they do one by one."""

import json
import os
import subprocess
import sys
from functools import partial

import pytest

from fairest_server.edge.joined_modules import NotJoinable, join_modules
from tests.support.node import node_command

MODULES = {
    "main": """// The entry.
import DATA from "./data.js";
import {
  double, text as said,
  Counter,
} from "./tools.js";
const name = "main"; // not that of the tools
const counter = new Counter();
counter.count();
process.stdout.write([name, double(DATA.number), said(), [...counter.all()].join("+"), "/* kept */ // kept"].join(" "));
""",
    "tools": """import DATA from "./data.js";
const name = "tools";
/**
 * Doubles a number.
 */
export const double = (number) => 2 * number;
export function text() {
  return `${name} ${DATA.number}`;
}
export class Counter {
  // A comment.
  counted = 0;
  count() {
    this.counted += 1;
  }
  *all() {
    yield* numbers(this.counted);
  }
}
export function* numbers(count) {
  for (let number = 0; number <= count; number += 1) yield number;
}
""",
    "data": 'export default {\n  "number": 21\n};\n',
    "unused": "throw new Error();\n",
}


MANY = {f"m{number}": f"export const a = {number};\n" for number in range(20)}
MANY["entry"] = "".join(f'import {{ a as a{number} }} from "./m{number}.js";\n' for number in range(20))
OUTPUT = "main 42 tools 21 0+1 /* kept */ // kept"


def output_of(*scripts: str) -> str:
    """Return what scripts of one page print that run one after the other."""
    run = f"for (const script of {json.dumps(scripts)}) require('node:vm').runInThisContext(script);"
    command = [*node_command(), "--input-type=commonjs", "--eval", f"global.process = process; {run}"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=50).stdout


def test_the_joined_script_does_what_its_entry_does() -> None:
    assert output_of(join_modules(MODULES, "main")) == OUTPUT


def test_a_script_behind_another_one_uses_its_modules() -> None:
    first, second = join_modules(MODULES, "tools"), join_modules(MODULES, "main", behind="tools")
    assert "Counter {" not in second
    assert output_of(first, second) == OUTPUT


def test_every_process_joins_the_same_script() -> None:
    """Python's sets of strings have another order in each process."""
    code = f"from fairest_server.edge.joined_modules import join_modules; print(join_modules({MANY}, 'entry'))"
    run = partial(subprocess.run, [sys.executable, "-c", code], capture_output=True, check=True, timeout=50)
    first, second = (run(env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in ("1", "2"))
    assert first == second


def test_a_joined_script_is_strict_as_modules_are() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        output_of(join_modules({"one": "undeclared = 1;\n"}, "one"))


def test_comments_on_lines_of_their_own_are_left_out() -> None:
    script = join_modules(MODULES, "main")
    assert [each for each in ("The entry", "Doubles", "A comment") if each in script] == []


def test_modules_in_a_circle_cannot_be_joined() -> None:
    circle = {"one": 'import { b } from "./two.js";\n', "two": 'import { a } from "./one.js";\n'}
    with pytest.raises(NotJoinable, match="in a circle"):
        join_modules(circle, "one")


@pytest.mark.parametrize(
    "line", ["export { a };", 'export * from "./data.js";', 'import * as all from "./data.js";', "export let a = 1;"]
)
def test_a_form_that_is_not_known_cannot_be_joined(line: str) -> None:
    with pytest.raises(NotJoinable, match="cannot be joined"):
        join_modules({"one": f"{line}\n", "data": MODULES["data"]}, "one")


def test_a_module_that_is_missing_cannot_be_joined() -> None:
    with pytest.raises(NotJoinable, match="no module two"):
        join_modules({"one": 'import { b } from "./two.js";\n'}, "one")
