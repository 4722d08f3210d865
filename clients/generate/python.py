"""Python: enums.py, models.py and resources.py of the package `bursar`."""

import re
import textwrap

from document import Type, snake, word_name

HEADER = '''"""{about}

Generated from the OpenAPI document by `python3 clients/generate`. Do not edit.
"""

'''
# Of these the sub-classes of the event have their own in the document: parts of the general ones.
GENERAL = {"type": Type("enum", "EventType"), "resource": Type("enum", "EventResource")}
# Types of a test delivery. Nothing else has them.
PLAIN = {"TestEventType": Type("string")}


def files(document):
    models = [as_python(model, model.name in document.events) for model in document.models.values()]
    used = {name for model in models for field in model["fields"] for name in enums_in(field.type)}
    inputs = {
        field.type.name
        for operation in document.operations
        for field in operation.query + operation.body
        if field.type.kind == "enum"
    }
    enums = {name: words for name, words in document.enums.items() if name in used | inputs}
    assert {"EventType", "EventResource"} <= set(enums)
    return {
        "__init__.py": HEADER.format(about="The part that follows from the OpenAPI document.").rstrip() + "\n",
        "enums.py": write_enums(enums, inputs),
        "models.py": write_models(document, models, sorted(set(enums))),
        "resources.py": write_resources(document, sorted(inputs)),
    }


def as_python(model, is_event):
    def type_of(field):
        if is_event and field.name in GENERAL:
            return GENERAL[field.name]
        return PLAIN.get(field.type.name, field.type)

    fields = [type(field)(field.name, type_of(field), field.about, field.required) for field in model.fields]
    return {"name": model.name, "about": model.about, "fields": fields}


def enums_in(found):
    if found is None:
        return []
    return [found.name] if found.kind == "enum" else enums_in(found.items)


def constant(word):
    return "_".join(word_name(word)).upper()


def write_exports(names):
    """So that a star import of the package takes these, and not what they are made with."""
    return "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(names)) + "]\n"


def write_enums(enums, inputs):
    out = [HEADER.format(about="The words of the API.")]
    out.append("from typing import Literal, TypeAlias\n\nfrom .._values import OpenEnum\n")
    out.append(write_exports([*enums, *(f"{name}Input" for name in inputs)]))
    for name in sorted(enums):
        out.append(f"\n\nclass {name}(OpenEnum):\n")
        out.extend(f'    {constant(word)} = "{word}"\n' for word in enums[name])
    out.append("\n\n# What methods take: a member of the enum, or its word.\n")
    for name in sorted(inputs):
        out.append(f"{name}Input: TypeAlias = (\n    {name}\n    | Literal[\n")
        out.extend(f'        "{word}",\n' for word in enums[name])
        out.append("    ]\n)\n")
    return "".join(out)


def annotation(found):
    plain = {
        "string": "str",
        "integer": "int",
        "number": "float",
        "boolean": "bool",
        "timestamp": "datetime",
        "date": "date",
        "null": "None",
        "object": "Mapping[str, Any]",
        "enum": found.name,
        "model": found.name,
    }
    text = f"tuple[{annotation(found.items)}, ...]" if found.kind == "array" else plain[found.kind]
    return f"{text} | None" if found.nullable else text


def parsed(found, value):
    """The expression that makes a value of this type from JSON."""
    if found.kind == "array":
        assert not found.nullable
        inside = parsed(found.items, "one")
        return f"tuple({value})" if inside == "one" else f"tuple({inside} for one in {value})"
    function = {
        "timestamp": "parse_timestamp",
        "date": "parse_date",
        "enum": found.name,
        "model": f"{found.name}.from_dict",
    }.get(found.kind)
    if function is None:
        return value
    return f"optional({function}, {value})" if found.nullable else f"{function}({value})"


def in_python(text):
    """Names of fields in prose are written as Python writes them."""
    return re.sub(r"`([a-z]+[A-Z][A-Za-z]*)", lambda found: "`" + snake(found[1]), text)


def docstring(text, indent):
    """Closing quotes on a line of their own for more than one line, as PEP 257 says."""
    width = 118 - len(indent)
    paragraphs = [textwrap.fill(in_python(part), width, break_on_hyphens=False) for part in text.split("\n\n")]
    body = "\n\n".join(paragraphs)
    if "\n" not in body and len(body) < width - 6:
        return f'{indent}"""{body}"""\n'
    return textwrap.indent(f'"""{body}\n"""\n', indent, lambda line: line.strip() != "")


def write_models(document, models, enums):
    out = [HEADER.format(about="What the server sends.")]
    out.append("from collections.abc import Mapping\nfrom dataclasses import dataclass\n")
    out.append("from datetime import date, datetime\nfrom typing import Any, TypeAlias\n\n")
    out.append("from .._values import Model, optional, parse_date, parse_timestamp\n")
    used = [name for name in enums if any(name in enums_in(f.type) for m in models for f in m["fields"])]
    out.append("from .enums import (\n" + "".join(f"    {name},\n" for name in used) + ")\n")
    out.append(write_exports([*(model["name"] for model in models), "UnknownEvent", "Event", "WebhookEvent"]))
    # Those that others have inside come first.
    for model in sorted(models, key=lambda model: (model["name"] not in ("Actor", "Withheld"), 0)):
        out.append(write_model(model["name"], model["about"], model["fields"]))
    general = next(model for model in models if model["name"] == document.events[0])["fields"]
    unknown = [
        type(field)(field.name, Type("object") if field.name == "data" else field.type, field.about, True)
        for field in general
    ]
    out.append(
        write_model("UnknownEvent", "A write of a resource that this version of the client does not know.", unknown)
    )
    out.append(
        "\n\n# As a list or a get gives it. `match` or `isinstance` tell what it is about.\nEvent: TypeAlias = (\n"
    )
    out.append("    " + "\n    | ".join([*document.events, "UnknownEvent"]) + "\n)\n")
    out.append("# As a webhook delivers it.\nWebhookEvent: TypeAlias = Event | TestEvent\n\n")
    out.append("_EVENTS: dict[str, type[Event]] = {\n")
    for name in document.events:
        words = next(field for field in document.models[name].fields if field.name == "resource").type.words
        out.append(f'    "{words[0]}": {name},\n')
    out.append("}\n\n\ndef event_from_dict(raw: Mapping[str, Any]) -> Event:\n")
    out.append('    return _EVENTS.get(raw["resource"], UnknownEvent).from_dict(raw)\n')
    out.append("\n\ndef webhook_event_from_dict(raw: Mapping[str, Any]) -> WebhookEvent:\n")
    out.append('    return TestEvent.from_dict(raw) if raw["type"] == "test" else event_from_dict(raw)\n')
    return "".join(out)


def write_model(name, about, fields):
    out = ["\n\n@dataclass(frozen=True, kw_only=True, slots=True)\n", f"class {name}(Model):\n"]
    out.append(docstring(about or "One entry.", "    ") + "\n")
    for field in fields:
        out.append(f"    {snake(field.name)}: {annotation(field.type)}\n")
        if field.about:
            out.append(docstring(field.about, "    "))
    out.append(
        f'\n    @classmethod\n    def from_dict(cls, raw: Mapping[str, Any]) -> "{name}":\n        return cls(\n'
    )
    for field in fields:
        value = f'raw["{field.name}"]'
        out.append(f"            {snake(field.name)}={parsed(field.type, value)},\n")
    out.append("            raw=raw,\n        )\n")
    return "".join(out)


def write_resources(document, inputs):
    out = [HEADER.format(about="The operations of the API, grouped as its reference groups them.")]
    out.append("from collections.abc import Mapping\nfrom datetime import datetime\nfrom decimal import Decimal\n")
    out.append("from typing import Any\n\nfrom .._http import Http, path_part\nfrom .._paging import Walk\n")
    out.append(
        "from . import models\nfrom .enums import (\n" + "".join(f"    {name}Input,\n" for name in inputs) + ")\n"
    )
    for tag, about in document.tags:
        out.append(f"\n\nclass {tag}:\n{docstring(about, '    ')}\n")
        out.append("    def __init__(self, http: Http) -> None:\n        self._http = http\n")
        out.extend(write_method(document, operation) for operation in document.of_tag(tag))
    tags = [tag for tag, _ in document.tags if tag != "Service"]
    out.append("\n\nclass Operations(Service):\n" + docstring("Every operation, grouped by tag.", "    "))
    out.append("\n    def __init__(self, http: Http) -> None:\n        super().__init__(http)\n")
    out.extend(f"        self.{tag.lower()} = {tag}(http)\n" for tag in tags)
    return "".join(out)


def argument(field):
    kind = {"timestamp": "datetime | str", "number": "Decimal | float"}.get(field.type.kind)
    if field.type.kind == "enum":
        kind = f"{field.type.name}Input"
    return kind or annotation(Type(field.type.kind, field.type.name))


def write_method(document, operation):
    arguments = [f"{snake(field.name)}: str" for field in operation.ids]
    named = [f"{snake(field.name)}: {argument(field)}" for field in operation.body if field.required]
    named += [
        f"{snake(field.name)}: {argument(field)} | None = None"
        for field in operation.query + operation.body
        if not field.required
    ]
    if operation.is_write:
        named.append("idempotency_key: str | None = None")
    if operation.row:
        result = f"Walk[models.{operation.row.name}]"
    else:
        result = (
            annotation(operation.result) if operation.result.kind == "object" else f"models.{operation.result.name}"
        )
    out = [f"\n    def {'_'.join(operation.words)}(\n        self,\n"]
    out.extend(f"        {one},\n" for one in arguments)
    if named:
        out.append("        *,\n")
        out.extend(f"        {one},\n" for one in named)
    out.append(f"    ) -> {result}:\n")
    out.append(docstring(text_of(operation), "        "))
    path = operation.path
    for field in operation.ids:
        path = path.replace("{" + field.name + "}", "{path_part(" + snake(field.name) + ")}")
    path = f'f"{path}"' if operation.ids else f'"{path}"'
    if operation.row:
        out.append(write_walk(document, operation, path))
        return "".join(out)
    parse = "dict" if operation.result.kind == "object" else f"models.{parser(operation.result.name)}"
    out.append(f"        return self._http.request(\n            {operation.http!r},\n".replace("'", '"'))
    out.append(f"            {path},\n            {parse},\n")
    if operation.is_write:
        out.append("            body={\n" if operation.body else "            body={},\n")
        out.extend(f'                "{field.name}": {snake(field.name)},\n' for field in operation.body)
        out.append("            },\n" if operation.body else "")
        out.append("            idempotency_key=idempotency_key,\n")
    out.append("        )\n")
    return "".join(out)


def parser(name):
    return "event_from_dict" if name == "Event" else f"{name}.from_dict"


def write_walk(document, operation, path):
    name = document.events[0] if operation.row.name == "Event" else operation.row.name
    fields = [field.name for field in document.models[name].fields]
    time = "updated_at" if "updatedAt" in fields else "created_at"
    since = next(field.name for field in operation.query if field.name.endswith("Since"))
    out = ["        return Walk(\n            self._http,\n", f"            {path},\n"]
    out.append(f"            models.{parser(operation.row.name)},\n            query={{\n")
    out.extend(f'                "{field.name}": {snake(field.name)},\n' for field in operation.query)
    out.append(f'            }},\n            since="{since}",\n            time="{time}",\n        )\n')
    return "".join(out)


def text_of(operation):
    out = [f"{operation.summary}.", operation.about]
    fields = [field for field in operation.ids + operation.query + operation.body if field.about]
    out.extend(f"`{snake(field.name)}`: {field.about}" for field in fields)
    return "\n\n".join(out)
