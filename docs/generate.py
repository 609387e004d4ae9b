"""Write the parts of docs/ that are generated: whole files for programs, reference.md, and the marked parts of pages.

`python docs/generate.py` writes; with `--check` it only compares, names each file that is out of step, and exits 1.
"""

import inspect
import json
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from prometheus_client import Counter, Gauge

sys.path.insert(0, str(Path(__file__).parent.parent))

from docs.asyncapi import close_codes, make_asyncapi
from docs.message_examples import find_examples, message_examples
from docs.openapi import make_openapi
from docs.record_data import make_record_data, make_record_module
from docs.schemas import Schema, all_schemas, attribute_docs, kind_of, name_of
from docs.typescript import make_typescript
from fairest_cli.text.variant_reference import describe_variant
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.certified import find_step
from fairest_protocol.calculation.deal import make_deal, seal_deal
from fairest_protocol.calculation.rules import VARIANTS, choose_rules
from fairest_protocol.calculation.seal import (
    NO_ROUNDS,
    chain_line,
    chain_round_line,
    commit_entropy,
    commit_secret,
    make_check_words,
    make_salt,
    make_seed,
    make_step_seed,
    random_bytes,
    record_statement,
    root_envelopes,
    round_statement,
    rounds_head_statement,
)
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import SENTENCES
from fairest_server.ops import metrics
from fairest_server.ops.events import Event
from fairest_server.settings import ENV_PREFIX, Settings
from fairest_server.store import daily_keys, keys, tournament_keys

DOCS: Final = Path(__file__).parent
_MATCH_ID: Final = "0" * 32
"""Its last digit is a part of a key, so no placeholder stands for it there."""
OBJECTS: Final = (
    *("RequestedOptions", "RoomOptions", "Spectators", "Scene", "SeatScene", "Board", "Foundation", "Outcome", "Score"),
    *("Timing", "ListedRoom", "RoundsHead", "DailySeal", "AttemptResult", "Phase", "Ending"),
    *("Standing", "TournamentRound", "TournamentPair", "ReadyEntrant", "RaceScore", "RunningCount"),
    *("TournamentPhase", "TournamentFormat"),
)

SECRET: Final = bytes(range(0x20))
ENTROPIES: Final = bytes(range(0x20, 0x40)), bytes(range(0x40, 0x60))
ROUND_ID: Final = bytes(range(0x60, 0x70))
MATCH_ID: Final = bytes(range(0x50, 0x60))
TERMS: Final = RoomOptions().resolved().terms()
PRIVATE_KEY: Final = bytes(range(0x70, 0x90))
KEY: Final = Ed25519PrivateKey.from_private_bytes(PRIVATE_KEY)
RECORD_LINES: Final = '{"type":"match","format":3}', '{"type":"round"}'
SEED: Final = make_seed(SECRET, ENTROPIES, ROUND_ID)


def make_parts() -> dict[str, str]:
    """Return the generated parts of docs/protocol.md by the names of their markers."""
    clients, servers, shown, schemas = all_schemas()
    return {
        "client messages": make_table(clients, schemas, has_defaults=True),
        "server messages": make_table(servers, schemas),
        "entries": make_table(shown, schemas),
        "objects": "\n\n".join(describe_object(name, schemas[name]) for name in OBJECTS),
        "refusals": as_table(("code", "sentence"), ((f"`{code}`", sentence) for code, sentence in SENTENCES.items())),
        "close codes": make_close_codes(),
        "deal vectors": make_deal_vectors(),
    }


def make_reference() -> str:
    """Return docs/reference.md: a section for each message and each entry, with its fields and an example."""
    clients, servers, shown, schemas = all_schemas()
    complete = {kind: json.dumps(each, separators=(",", ":")) for kind, each in message_examples().items()}
    examples = complete | find_examples((DOCS / "protocol.md").read_text("utf-8"))
    about = (
        "Every message of the wire and every entry of a view, with its fields: [asyncapi.json](asyncapi.json) for "
        "people, and\ngenerated like it. [Protocol](protocol.md) says when they are sent and what a schema cannot say; "
        "the examples are from there."
    )
    sections = ["# Messages", about]
    for title, names in (("From the client", clients), ("From the server", servers), ("Entries of a view", shown)):
        sections.append(f"## {title}")
        for name in names:
            schema = schemas[name]
            kind = kind_of(schema)
            sections += [f"### {kind}", schema["description"].strip()]
            sections.append("\n".join(f"- {field}" for field in describe_fields(schema, title == "From the client")))
            if kind in examples:
                sections.append(f"```json\n{examples[kind]}\n```")
    sections += ["## Objects", *(describe_object(name, schemas[name]) for name in OBJECTS)]
    return "\n\n".join(filter(None, sections)) + "\n"


def make_operations() -> dict[str, str]:
    """Return the generated parts of docs/operations.md by the names of their markers."""
    return {
        "settings": make_settings(),
        "metrics": make_metrics(),
        "events": make_events(),
        "keys": make_keys(),
        "close codes": make_close_codes(),
    }


def make_settings() -> str:
    """Return the table of settings: option, variable, default, description. Raises ValueError without a description."""
    rows = []
    for name, field in Settings.model_fields.items():
        if not field.description:
            raise ValueError(f"the setting {name} has no description")
        default = {"": "none", "None": "none", "True": "on", "False": "off"}.get(str(field.default), f"{field.default}")
        default = "in the user's data folder" if isinstance(field.default, Path) else default
        rows.append((f"`--{name.replace('_', '-')}`", f"`{ENV_PREFIX}{name.upper()}`", default, field.description))
    return as_table(("option", "in the environment", "default", "what it is"), rows)


def make_metrics() -> str:
    """Return the table of our metrics: the name as it is scraped with its labels, the type, the help."""
    rows = []
    for metric in vars(metrics).values():
        if not isinstance(metric, Counter | Gauge | metrics.FastCounter | metrics.FastHistogram):
            continue
        [sample] = metric.collect()
        labels = ", ".join(getattr(metric, "_labelnames", ()))
        name = f"{sample.name}_total" if sample.type == "counter" else sample.name
        rows.append((f"`{name}{{{labels}}}`" if labels else f"`{name}`", sample.type, sample.documentation))
    return as_table(("metric", "type", "what it is"), rows)


def make_events() -> str:
    """Return the table of log events: the short name, the level at which the code logs it, the sentence."""
    code = "".join(path.read_text("utf-8") for path in sorted((DOCS.parent / "server").rglob("*.py")))
    levels = {name: level for level, name in re.findall(r"(?i)_log\.(\w+)\(\s*Event\.(\w+)", code)}
    rows = ((f"`{each}`", levels[each.name].replace("exception", "error"), each.sentence) for each in Event)
    return as_table(("event", "level", "what has happened"), rows)


def make_keys() -> str:
    """Return the table of keys in Redis, from their docstrings: kind, content, lifetime."""
    documented = [
        (value, text)
        for module in (keys, daily_keys, tournament_keys)
        for name, text in attribute_docs(module)
        if str(value := getattr(module, name)).startswith("fairest:")
    ]
    modules = (keys, daily_keys, tournament_keys)
    for function in filter(inspect.isfunction, (each for module in modules for each in vars(module).values())):
        if inspect.signature(function).return_annotation is str:
            parameters = inspect.signature(function).parameters.values()
            examples = {
                each.name: 0 if each.annotation is int else f"<{each.name.removesuffix('_id')}>" for each in parameters
            }
            if "match_id" in examples:
                examples["match_id"] = _MATCH_ID
            key = re.sub(r"\{\d+\}", "{<bucket>}", function(**examples)).replace(_MATCH_ID, "<match>")
            documented.append((key, " ".join((function.__doc__ or "").split())))
    spans = {name: format_span(value) for name, value in vars(keys).items() if name.endswith("_SECONDS")}
    spans |= {name: str(value) for name, value in vars(keys).items() if name.endswith("_KEPT")}
    names = re.compile("|".join(sorted(spans, key=len, reverse=True)))
    rows = (
        (f"`{key}`", *names.sub(lambda found: spans[found[0]], text).split(": ", 1)) for key, text in sorted(documented)
    )
    return as_table(("key", "kind", "what it is, and how long it lives"), rows)


def format_span(seconds: int) -> str:
    """Return a time span in its largest whole unit."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds // length} {unit}{'s' * (seconds != length)}"
    return f"{seconds} seconds"


def make_close_codes() -> str:
    """Return the table of close codes, with the error code that comes before each."""
    rows = (
        (
            str(each["code"]),
            ", ".join(f"`{error}`" for error in each["errors"]) or "-",
            each["meaning"],
            each["connect_again"] or "-",
        )
        for each in close_codes()
    )
    return as_table(("close code", "`error` code", "means", "connect again?"), rows)


def make_cards() -> dict[str, str]:
    """Return the generated parts of docs/rules.md: the reference card of each variant."""
    return {
        f"card {name}": "\n".join(("```text", *describe_variant(variant, variant.rules, seed=None), "```"))
        for name, variant in VARIANTS.items()
    }


def make_table(names: list[str], schemas: dict[str, Schema], has_defaults: bool = False) -> str:
    """Return a table with a row for each message: its type, its fields, its meaning."""
    rows = []
    for schema in map(schemas.__getitem__, names):
        fields = "<br>".join(describe_fields(schema, has_defaults)) or "-"
        rows.append((f"`{kind_of(schema)}`", fields, schema["description"].splitlines()[0]))
    return as_table(("type", "fields", "meaning"), rows)


def as_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), *cells))


def describe_object(name: str, schema: Schema) -> str:
    """Return the description of a nested object or an enumeration, with its fields or values."""
    heading = f"**{name}**: {schema['description'].splitlines()[0]}\n"
    if "properties" not in schema:
        return f"{heading}\n{describe_type(schema)}"
    return "\n".join((heading, *(f"- {field}" for field in describe_fields(schema, name == "RequestedOptions"))))


def describe_fields(schema: Schema, has_defaults: bool) -> list[str]:
    """Return a line for each field except `type`: name, type, and with `has_defaults` the default value.

    The `id` of a request is the same in all messages, so its line is short, and the last one.
    """
    lines = []
    for name, field in schema["properties"].items():
        if name == "id":
            continue
        default = field.get("default")
        value = f"`{json.dumps(default)}`" if not isinstance(default, dict) else "that of each of its fields"
        left_out = f", default {value}" if has_defaults and "default" in field else ""
        if "const" not in field:
            lines.append(f"`{name}` {describe_type(field)}{left_out}")
    if "id" in schema["properties"]:
        lines.append("`id` optional" if has_defaults else "`id` that of the request, if it had one")
    return lines


def describe_type(schema: Schema) -> str:
    """Return a schema in a few words."""
    match schema:
        case {"$ref": _}:
            return name_of(schema)
        case {"enum": values}:
            return ", ".join(f"`{json.dumps(value)}`" for value in values)
        case {"anyOf": options}:
            return " or ".join(map(describe_type, options))
        case {"oneOf": _}:
            return "entries"
        case {"type": "array", "items": list(items)}:
            return f"[{', '.join(map(describe_type, items))}]"
        case {"type": "array", "items": item}:
            return f"list of {describe_type(item)}"
        case {"pattern": pattern}:
            digits = re.fullmatch(r"\^\[0-9a-f\]\{(\d+)\}\$", pattern)
            return f"hex, {int(digits[1]) // 2} bytes" if digits else f"string `{pattern}`"
        case {"type": "integer", "minimum": low}:
            return f"integer {low} to {schema['maximum']}" if "maximum" in schema else f"integer from {low}"
        case {"type": "string", "maxLength": most}:
            return f"string up to {most} characters"
    return str(schema["type"])


def make_deal_vectors() -> str:
    """Return the test vectors for one secret, two entropies and one round id."""
    classic, redeal, broken = choose_rules("classic"), choose_rules("redeal", redeals=2), choose_rules("broken")
    again = seal_deal(redeal, SEED, ROUND_ID)
    sealed, thrown = seal_deal(classic, SEED, ROUND_ID), make_deal(broken, SEED)
    certified = seal_deal(classic, make_step_seed(SEED, find_step(classic, SEED).step), ROUND_ID)
    deal, root = sealed.deal, root_envelopes(sealed.envelopes)
    commitment = commit_secret(ROUND_ID, SECRET)
    chain = chain_line(chain_line(b"", RECORD_LINES[0]), RECORD_LINES[1])
    opened = (
        f'{{"number":1,"at_ms":1795442981891,"type":"opened","commitment":"{commitment.hex()}","rules":"classic 4 0"}}'
    )
    ended = (
        f'{{"number":2,"at_ms":1795442990000,"type":"ended","commitment":"{commitment.hex()}","how":"proved","why":null,'
        f'"endings":["won","round_over"],"revealed":[true,true],"seed":"{SEED.hex()}"}}'
    )
    first = chain_round_line(NO_ROUNDS, opened)
    second = chain_round_line(first, ended)
    lines = {
        "secret": SECRET.hex(),
        "entropy of seat 0": ENTROPIES[0].hex(),
        "entropy of seat 1": ENTROPIES[1].hex(),
        "round id": ROUND_ID.hex(),
        "commitment": commitment.hex(),
        "entropy hash of seat 0": commit_entropy(ROUND_ID, 0, ENTROPIES[0]).hex(),
        "entropy hash of seat 1": commit_entropy(ROUND_ID, 1, ENTROPIES[1]).hex(),
        "seed": SEED.hex(),
        "shuffle stream, 8 bytes": bytes(islice(random_bytes("shuffle", SEED), 8)).hex(),
        "classic starters": " ".join(deal.starters),
        "classic stock": wrap_cards(deal.orders[0]),
        **{f"salt of position {place}": make_salt(SEED, 0, place).hex() for place in (0, 1)},
        **{f"envelope of position {place}": sealed.envelopes[0][place].hex() for place in (0, 1)},
        "root of the envelopes": root.hex(),
        "match id": MATCH_ID.hex(),
        "terms": TERMS,
        "check words": " ".join(make_check_words(ROUND_ID, commitment, ENTROPIES, root, TERMS)),
        "private key": PRIVATE_KEY.hex(),
        "public key": KEY.public_key().public_bytes_raw().hex(),
        "signature of round": KEY.sign(round_statement(ROUND_ID, commitment, MATCH_ID, 2, TERMS)).hex(),
        "text of record line 1": RECORD_LINES[0],
        "text of record line 2": RECORD_LINES[1],
        "record line 2": RECORD_LINES[1].replace("}", f',"chain":"{chain.hex()}"}}'),
        "chain of line 2": chain.hex(),
        "signature of record": KEY.sign(record_statement(chain)).hex(),
        "entry 1": opened,
        "entry 2": ended,
        "chain of entry 1": first.hex(),
        "chain of entry 2": second.hex(),
        "at_ms of head 2": "1795442991000",
        "signature of head 2": KEY.sign(rounds_head_statement(2, second, 1_795_442_991_000)).hex(),
        **{f"redeal order of pass {number}": wrap_cards(again.deal.orders[number]) for number in (1, 2)},
        "redeal salt of pass 2, 0": again.salt(2, 0).hex(),
        "redeal root": root_envelopes(again.envelopes).hex(),
        "betsy-ross order": wrap_cards(make_deal(choose_rules("betsy-ross"), SEED).orders[0]),
        "senior order": wrap_cards(make_deal(choose_rules("senior"), SEED).orders[0]),
        "broken starters": " ".join(thrown.starters),
        "broken layout": " ".join(f"{each.start}+{each.step}" for each in thrown.foundations),
        **{f"seed of step {step}": make_step_seed(SEED, step).hex() for step in (0, 1)},
        "certified step, classic": str(find_step(classic, SEED).step),
        "certified root, classic": root_envelopes(certified.envelopes).hex(),
    }
    return "\n".join(("```text", *(f"{name:<25} {value}" for name, value in lines.items()), "```"))


def wrap_cards(cards: tuple[Card, ...], width: int = 24) -> str:
    """Return cards in lines of `width`, indented to stand behind the names of the vectors."""
    return f"\n{'':26}".join(" ".join(cards[at : at + width]) for at in range(0, len(cards), width))


def fill(page: str, parts: dict[str, str]) -> str:
    """Return the page with each marked part replaced. Raises KeyError for a marker without a generated part."""
    marked = re.compile(r"(<!-- generated: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
    return marked.sub(lambda found: f"{found[1]}\n{parts[found[2]]}\n\n{found[3]}", page)


def main() -> None:
    """Write the files, or with `--check` print which of them would change and exit 1."""
    only_checks = "--check" in sys.argv[1:]
    parts = {"protocol.md": make_parts(), "rules.md": make_cards(), "operations.md": make_operations()}
    pages = {name: fill((DOCS / name).read_text("utf-8"), made) for name, made in parts.items()}
    wanted = {
        "asyncapi.json": make_asyncapi(),
        "openapi.json": make_openapi(),
        "types/fairest.d.ts": make_typescript(),
        "record.json": make_record_data(),
        "reference.md": make_reference(),
        **pages,
    }
    wanted["../server/fairest_server/page/record_data.js"] = make_record_module(wanted["record.json"])
    stale = [name for name in wanted if not (DOCS / name).exists() or (DOCS / name).read_text("utf-8") != wanted[name]]
    for name in stale:
        if not only_checks:
            (DOCS / name).write_text(wanted[name], "utf-8")
        print(f"docs/{name} differs from the code; run `make docs`." if only_checks else f"Wrote docs/{name}.")
    sys.exit(1 if stale and only_checks else 0)


if __name__ == "__main__":
    main()
