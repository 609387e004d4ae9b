"""The JSON schemas of all messages, made from the models: for the pages, the AsyncAPI document and the types."""

import ast
import inspect
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from textwrap import dedent
from types import ModuleType
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import BytesSchema, DataclassField, ModelField, TypedDictField, WithDefaultSchema

from fairest_protocol.calculation.race import Turn
from fairest_protocol.messages import fields
from fairest_protocol.messages.from_client import FromClient
from fairest_protocol.messages.from_server import FromServer
from fairest_protocol.messages.scene import Scene

Schema = dict[str, Any]

SCHEMAS: Final = "#/components/schemas/"
SHARED: Final = (
    *(
        "CardText",
        "MoveText",
        "Name",
        "PlainText",
        "RoomCode",
        "RulesName",
        "Token",
        "Version",
        "LogTag",
        "Seat",
        "TimeMs",
    ),
    *("Code", "Capabilities"),
)
"""The types in `fields` that have a schema in `shared_schemas`, under the same name unless `RENAMED` has another."""
RENAMED: Final = {"CardText": "Card", "MoveText": "Move"}


class WireSchema(GenerateJsonSchema):
    """JSON schemas of the wire: bytes are hexadecimal text, and a server writes every field."""

    def bytes_schema(self, schema: BytesSchema) -> JsonSchemaValue:
        """Return a pattern for the fixed length that all bytes of the protocol have."""
        return {"type": "string", "pattern": f"^[0-9a-f]{{{2 * schema['min_length']}}}$"}

    def field_is_required(self, field: ModelField | DataclassField | TypedDictField, total: bool) -> bool:
        """Return whether the field is in every message: of the server's fields, all but an `id` that has no value."""
        if self.mode == "serialization":
            return "serialization_exclude_if" not in field
        return super().field_is_required(field, total)

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        """Return the schema of a field with its default value, if the field may be left out."""
        described = super().default_schema(schema)
        return {key: value for key, value in described.items() if key != "default" or self.mode == "validation"}


def portable(node: Any) -> Any:
    """Return the schema in the keywords of JSON Schema draft 7, on which those of AsyncAPI are built."""
    if isinstance(node, list):
        return [portable(each) for each in node]
    if not isinstance(node, dict):
        return node
    plain = {key: portable(value) for key, value in node.items()}
    if "prefixItems" in plain:
        plain["items"] = plain.pop("prefixItems")
    if "discriminator" in plain:
        plain["discriminator"] = plain["discriminator"]["propertyName"]
    if "const" in plain.get("properties", {}).get("type", {}):
        plain["required"] = ["type", *(name for name in plain.get("required", []) if name != "type")]
    return plain


def without_titles(node: Any) -> Any:
    """Return the schema without the titles that pydantic makes of names."""
    if isinstance(node, list):
        return [without_titles(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {key: without_titles(value) for key, value in node.items() if key != "title" or not isinstance(value, str)}


STAND_INS: Final = ("UnknownEntry", "UnknownMessage")
"""The models that our decoder puts in the place of messages and entries that it does not know; no server sends them."""


def _is_stand_in(node: Any) -> bool:
    return isinstance(node, dict) and "$ref" in node and name_of(node) in STAND_INS


def _without_stand_ins(node: Any) -> Any:
    """Return the schemas without those of the stand-ins, and without the references to them."""
    if isinstance(node, list):
        return [_without_stand_ins(each) for each in node if not _is_stand_in(each)]
    if not isinstance(node, dict):
        return node
    return {key: _without_stand_ins(value) for key, value in node.items() if key not in STAND_INS}


def all_schemas() -> tuple[list[str], list[str], list[str], dict[str, Schema]]:
    """Return the names of the client's and the server's messages and of the entries of a view, and all schemas."""
    roots, definitions = TypeAdapter.json_schemas(
        [("client", "validation", TypeAdapter(FromClient)), ("server", "serialization", TypeAdapter(FromServer))],
        ref_template=SCHEMAS + "{model}",
        schema_generator=WireSchema,
    )
    # Pydantic's names for one model that is read with defaults and written without.
    text = json.dumps(definitions["$defs"])
    text = text.replace("RoomOptions-Input", "RequestedOptions").replace("RoomOptions-Output", "RoomOptions")
    schemas = portable(without_titles(_without_stand_ins(json.loads(text))))
    entries = schemas["View"]["properties"]["entries"]["items"]
    unions = (roots["client", "validation"], _without_stand_ins(roots["server", "serialization"]), entries)
    clients, servers, shown = ([name_of(option) for option in union["oneOf"]] for union in unions)
    return clients, servers, shown, schemas


def name_of(schema: Schema) -> str:
    """Return the name of the schema that this one refers to."""
    return str(schema["$ref"]).removeprefix(SCHEMAS)


def kind_of(schema: Schema) -> str:
    """Return the value of `type` in this message."""
    return str(schema["properties"]["type"]["const"])


def attribute_docs(owner: ModuleType | type) -> Iterator[tuple[str, str]]:
    """Yield the attributes of a module or class that have a docstring below them, with the docstring."""
    body = ast.parse(dedent(inspect.getsource(owner))).body
    body = body[0].body if isinstance(body[0], ast.ClassDef) else body
    for each, below in pairwise(body):
        target = (
            each.target
            if isinstance(each, ast.AnnAssign)
            else each.targets[0]
            if isinstance(each, ast.Assign)
            else None
        )
        if isinstance(target, ast.Name) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            yield target.id, inspect.cleandoc(str(below.value.value))


def shared_schemas() -> tuple[list[str], list[str], list[str], dict[str, Schema]]:
    """Return the same as `all_schemas`, with a schema of its own for each field type that messages share.

    These are `SHARED`, bytes of each length (`Hex32`), and `Entry`.
    """
    clients, servers, shown, schemas = all_schemas()
    shared = {RENAMED.get(name, name): _field_type(name) for name in SHARED}
    schemas["Entry"] = {"description": "One entry of a view.", **schemas["View"]["properties"]["entries"]["items"]}
    for message in ("View", "DailyView", "TournamentRace"):
        schemas[message]["properties"]["entries"]["items"] = {"$ref": SCHEMAS + "Entry"}
    schemas["Turn"]["description"] = inspect.cleandoc(Turn.__doc__ or "")
    for field, text in attribute_docs(Scene):
        schemas["Scene"]["properties"][field]["description"] = text
    for schema in schemas.values():
        # Errors of Python are nothing to a reader of a schema.
        schema["description"] = schema["description"].partition("\n\nRaises ")[0]
    named = {name: _with_references(schema, shared) for name, schema in schemas.items()}
    return clients, servers, shown, dict(sorted({**named, **shared}.items()))


def _field_type(name: str) -> Schema:
    """Return the schema of a type in `fields`, with the docstring below it as its description."""
    schema = TypeAdapter(getattr(fields, name)).json_schema(schema_generator=WireSchema)
    return {**schema, "description": dict(attribute_docs(fields))[name]}


def _with_references(node: Any, shared: dict[str, Schema]) -> Any:
    """Return the schema with a reference for each schema inside it that is in `shared`, to which bytes are added."""
    if isinstance(node, list):
        return [_with_references(each, shared) for each in node]
    if not isinstance(node, dict):
        return node
    plain = {key: value for key, value in node.items() if key not in ("default", "description")}
    beside = {key: value for key, value in node.items() if key not in plain}
    digits = re.fullmatch(r"\^\[0-9a-f\]\{(\d+)\}\$", str(plain.get("pattern")))
    found = next(
        (name for name, schema in shared.items() if schema == {**plain, "description": schema["description"]}), ""
    )
    if digits and not found:
        found = f"Hex{int(digits[1]) // 2}"
        shared[found] = {**plain, "description": f"{int(digits[1]) // 2} bytes as hexadecimal text in small letters."}
    reference = SCHEMAS + found if found else plain.get("$ref")
    if reference is None:
        return {key: _with_references(value, shared) for key, value in node.items()}
    # Beside a reference nothing else counts.
    return {"allOf": [{"$ref": reference}], **beside} if beside else {"$ref": reference}
