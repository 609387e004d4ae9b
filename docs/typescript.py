"""The types of all messages for TypeScript, docs/types/fairest.d.ts, from the same schemas as the AsyncAPI document."""

import json
from collections.abc import Iterable, Mapping
from textwrap import indent, wrap
from typing import Final

from docs.asyncapi import REPLIES, close_codes
from docs.schemas import Schema, attribute_docs, kind_of, name_of, shared_schemas
from fairest_protocol.calculation.cards import RANK_LETTERS, SUIT_LETTERS
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS, MOVES, PILE_LETTERS
from fairest_protocol.calculation.race import Ending
from fairest_protocol.messages.fields import SUBPROTOCOL
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.refusals import SENTENCES, CloseCode

HEAD: Final = f"""\
/**
 * Every message of the protocol `{SUBPROTOCOL}`. Generated from the server's own models; docs/protocol.md says when
 * each message is sent, and what a type cannot say.
 *
 * A server writes every field of its messages. A later server may send fields, messages, entries and codes that are not
 * here: pass over them. A client may leave out the fields that are optional here, and sends no others.
 */
"""
LETTERS: Final = {
    "Rank": ("The rank of a card, from ace to king.", RANK_LETTERS),
    "Suit": ("The suit of a card, in small letters in the second deck of two.", "".join(SUIT_LETTERS)),
    "PileLetter": ("A waste pile.", PILE_LETTERS),
    "FoundationDigit": ("A foundation.", FOUNDATION_DIGITS),
}
"""The letters of which cards and moves are made."""

TEMPLATES: Final = {
    "Card": "`${Rank}${Suit}`",
    "Move": "`s${FoundationDigit | PileLetter}` | `${PileLetter}${FoundationDigit | PileLetter}` | MoveWord",
    "RoomCode": "`${string}-${string}`",
    "Code": "string & {}",
}
"""The texts of which a type says more than that they are texts; beside a `Code` an editor still offers known codes."""

MEANINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "CloseCode": {str(each["code"]): each["meaning"] for each in close_codes()},
    "Ending": {json.dumps(Ending[name]): text for name, text in attribute_docs(Ending)},
    "Refusal": {json.dumps(code): sentence for code, sentence in SENTENCES.items()},
}
"""The meanings of the values of enumerations, where they have any."""

WIDTH: Final = 120


def make_typescript() -> str:
    """Return the content of the file."""
    clients, servers, _, schemas = shared_schemas()
    words = [json.dumps(move) for move in MOVES if len(move) > 2]
    replies = {
        kind_of(schemas[request.__name__]): " | ".join([*(each.__name__ for each in answers), Refused.__name__])
        for request, answers in REPLIES.items()
    }
    parts = [
        declare_union("Subprotocol", "The subprotocol of the WebSocket.", [json.dumps(SUBPROTOCOL)]),
        *(declare_union(name, text, map(json.dumps, letters)) for name, (text, letters) in LETTERS.items()),
        declare_union("MoveWord", "A move without a card.", words),
        declare_union("FromClient", "A message of a client.", clients),
        declare_union("FromServer", "A message of a server.", servers),
        declare_interface("Replies", "The messages that answer a request, by its `type`.", replies),
        declare_union("CloseCode", CloseCode.__doc__ or "", MEANINGS["CloseCode"]),
        *(declare(name, schema) for name, schema in schemas.items()),
    ]
    return "\n".join((HEAD, *parts))


def declare(name: str, schema: Schema) -> str:
    """Return the declaration of a schema with this name."""
    text = str(schema["description"])
    if "properties" not in schema:
        members = [TEMPLATES[name]] if name in TEMPLATES else members_of(schema)
        return declare_union(name, " ".join(filter(None, (text, describe_bounds(schema)))), members)
    required = schema.get("required", ())
    return declare_interface(
        name,
        text,
        {
            f"{key}{'' if key in required else '?'}": " | ".join(members_of(field))
            for key, field in schema["properties"].items()
        },
        {key: describe_field(field) for key, field in schema["properties"].items()},
    )


def declare_interface(
    name: str, text: str, fields: Mapping[str, str], comments: Mapping[str, str] | None = None
) -> str:
    """Return the declaration of an object. `comments` are by the names of the fields, without the question mark."""
    lines = []
    for key, field_type in fields.items():
        about = (comments or {}).get(key.removesuffix("?"))
        lines += [
            f"{indent(comment(about, WIDTH - 2), '  ')}\n  {key}: {field_type};" if about else f"  {key}: {field_type};"
        ]
    return "\n".join((comment(text), f"export interface {name} {{", *lines, "}\n"))


def declare_union(name: str, text: str, members: Iterable[str]) -> str:
    """Return the declaration of a type with these members, in one line unless they are many or have meanings."""
    members, meanings = list(members), MEANINGS.get(name, {})
    line = f"export type {name} = {' | '.join(members)};"
    if len(line) > WIDTH or meanings:
        about = [f"  {comment(meanings[each])}\n" if each in meanings else "" for each in members]
        lines = (f"{each}  | {member}" for each, member in zip(about, members, strict=True))
        line = "\n".join((f"export type {name} =", *lines)) + ";"
    return f"{comment(text)}\n{line}\n"


def members_of(schema: Schema) -> list[str]:
    """Return the types of which a schema allows one, mostly a single one."""
    match schema:
        case {"$ref": _}:
            return [name_of(schema)]
        case {"allOf": [only]}:
            return members_of(only)
        case {"const": value}:
            return [json.dumps(value)]
        case {"enum": values}:
            return [json.dumps(value) for value in values]
        case {"anyOf": options} | {"oneOf": options}:
            return [member for option in options for member in members_of(option)]
        case {"type": "array", "items": list(items)}:
            return [f"[{', '.join(' | '.join(members_of(item)) for item in items)}]"]
        case {"type": "array", "items": item}:
            inner = members_of(item)
            return [f"{inner[0]}[]" if len(inner) == 1 else f"({' | '.join(inner)})[]"]
        case {"type": "integer"}:
            return ["number"]
    return [str(schema["type"])]


def describe_field(schema: Schema) -> str:
    """Return the comment of a field: its description, its bounds and its default value, as far as it has them."""
    default = schema.get("default")
    # The default value of `type` is the only one, and that of an object is made of its fields' own.
    has_default = "default" in schema and "const" not in schema and not isinstance(default, dict)
    shown = f"@defaultValue `{json.dumps(default)}`" if has_default else ""
    return " ".join(filter(None, (schema.get("description"), describe_bounds(schema), shown)))


def describe_bounds(schema: Schema) -> str:
    """Return the bounds that a type cannot express as a sentence, or an empty text."""
    match schema:
        case {"type": "integer", "minimum": low, "maximum": high}:
            return f"An integer from {low} to {high}."
        case {"type": "integer", "minimum": low, "exclusiveMaximum": high}:
            return f"An integer from {low}, below {high}."
        case {"type": "integer", "minimum": low}:
            return f"An integer from {low}."
        case {"type": "string", "pattern": pattern}:
            return f"It matches `{pattern}`."
        case {"type": "string", "maxLength": most}:
            return f"It has {schema.get('minLength', 0)} to {most} characters."
        case {"type": "array", "items": dict(), "minItems": low}:
            return (
                f"It has {low} to {schema['maxItems']} items."
                if "maxItems" in schema
                else f"It has {low} items or more."
            )
    return ""


def comment(text: str, width: int = WIDTH) -> str:
    """Return a TSDoc comment in lines of at most `width` characters, with the paragraphs of the text."""
    text = text.strip().replace("*/", "* /")
    if "\n" not in text and len(text) <= width - len("/**  */"):
        return f"/** {text} */"
    paragraphs = (wrap(each, width - len(" * "), break_on_hyphens=False) for each in text.split("\n\n"))
    lines = "\n\n".join("\n".join(each) for each in paragraphs).splitlines()
    return "\n".join(("/**", *(f" * {line}".rstrip() for line in lines), " */"))
