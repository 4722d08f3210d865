"""The OpenAPI document as the generators need it: enums, models, and operations grouped by tag."""

import dataclasses
import json
import re

# The envelope is one class for each resource, so the general schema is only a union of them.
EVENT = "Event"


@dataclasses.dataclass(frozen=True)
class Type:
    """What a value is. `kind` is string, number, integer, boolean, timestamp, date, null, object, enum, model or array."""

    kind: str
    name: str = ""
    items: "Type | None" = None
    nullable: bool = False
    # Of an enum: what is allowed here.
    words: tuple = ()


@dataclasses.dataclass(frozen=True)
class Field:
    name: str
    type: Type
    about: str
    required: bool


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    about: str
    fields: list


@dataclasses.dataclass(frozen=True)
class Operation:
    """A method of a client."""

    id: str
    tag: str
    # Words of the method's name, in lower case.
    words: list
    http: str
    path: str
    summary: str
    about: str
    # In the path, in the query, in the body.
    ids: list
    query: list
    body: list
    # Of a list: the type of a row.
    row: "Type | None"
    result: Type

    @property
    def is_write(self):
        return self.http != "GET"


class Document:
    def __init__(self, raw):
        self.raw = raw
        # Words by name. Null is not among them.
        self.enums = {}
        self.models = {}
        schemas = raw["components"]["schemas"]
        self.requests = {reference["$ref"].rsplit("/", 1)[1] for reference in self._bodies()}
        self.events = [name for name in schemas if name.endswith(EVENT) and name not in (EVENT, "TestEvent")]
        for name, schema in schemas.items():
            # Pages and errors are of the hand-written part, bodies are arguments of methods.
            if not name.endswith("Page") and name not in (EVENT, "Error") and name not in self.requests:
                self._add_model(name, schema)
        # The words of events in general, of which each event's own are a part.
        for field in ("type", "resource"):
            self.type_of(schemas[EVENT]["properties"][field], EVENT)
        self.operations = [
            self._operation(path, http, raw_operation)
            for path, methods in raw["paths"].items()
            for http, raw_operation in methods.items()
        ]
        self.tags = [
            (tag["name"], tag["description"])
            for tag in raw["tags"]
            if any(operation.tag == tag["name"] for operation in self.operations)
        ]

    @staticmethod
    def read(path):
        return Document(json.loads(path.read_text()))

    def of_tag(self, tag):
        return [operation for operation in self.operations if operation.tag == tag]

    def type_of(self, schema, owner):
        """`owner` names a nested object that has no name of its own."""
        if "$ref" in schema:
            return Type("model", schema["$ref"].rsplit("/", 1)[1])
        if "anyOf" in schema:
            others = [one for one in schema["anyOf"] if one != {"type": "null"}]
            assert len(others) == 1, f"{owner} is a union"
            return dataclasses.replace(self.type_of(others[0], owner), nullable=len(schema["anyOf"]) > 1)
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        nullable = len(kinds) > 1 and "null" in kinds
        kind = kinds[0]
        if "enum" in schema:
            words = tuple(word for word in schema["enum"] if word is not None)
            known = self.enums.setdefault(schema["title"], words)
            assert known == words, f"{schema['title']} has two meanings"
            return Type("enum", schema["title"], nullable=nullable, words=words)
        if kind == "array":
            return Type("array", items=self.type_of(schema["items"], owner), nullable=nullable)
        if kind == "object" and "properties" in schema:
            self._add_model(owner, schema)
            return Type("model", owner, nullable=nullable)
        kind = {"date-time": "timestamp", "date": "date"}.get(schema.get("format"), kind)
        return Type(kind, nullable=nullable)

    def _add_model(self, name, schema):
        model = Model(name, schema.get("description", ""), self._fields(schema, name))
        known = self.models.setdefault(name, model)
        assert known.fields == model.fields, f"{name} has two meanings"

    def _fields(self, schema, owner):
        required = schema.get("required", [])
        return [
            Field(name, self.type_of(value, self._nested(owner, name)), value.get("description", ""), name in required)
            for name, value in schema.get("properties", {}).items()
        ]

    @staticmethod
    def _nested(owner, field):
        """Every event has the same kind of actor."""
        return "Actor" if field == "actor" else f"{field[0].upper()}{field[1:]}"

    def _bodies(self):
        for methods in self.raw["paths"].values():
            for operation in methods.values():
                if "requestBody" in operation:
                    yield operation["requestBody"]["content"]["application/json"]["schema"]

    def _resolve(self, value):
        while "$ref" in value:
            found = self.raw
            for part in value["$ref"].split("/")[1:]:
                found = found[part]
            value = found
        return value

    def _operation(self, path, http, raw):
        (tag,) = raw["tags"]
        parameters = [self._resolve(parameter) for parameter in raw.get("parameters", [])]

        def where(place):
            return [
                Field(
                    one["name"],
                    self.type_of(one["schema"], one["name"]),
                    one["description"],
                    one.get("required", False),
                )
                for one in parameters
                if one["in"] == place
            ]

        headers = {one["name"] for one in parameters if one["in"] == "header"}
        assert headers <= {"Idempotency-Key"}, f"{raw['operationId']}: a header that no client sends: {headers}"
        assert ("Idempotency-Key" in headers) == (http != "get"), f"{raw['operationId']}: a write without a key"
        body = []
        if "requestBody" in raw:
            body = self._fields(
                self._resolve(raw["requestBody"]["content"]["application/json"]["schema"]), raw["operationId"]
            )
        # None leaves a field out. A change that can set null would need a way to say so.
        assert http != "patch" or not any(field.type.nullable for field in body), f"{raw['operationId']} takes null"
        (success,) = [value for status, value in raw["responses"].items() if status.startswith("2")]
        schema = self._resolve(success)["content"]["application/json"]["schema"]
        result = self.type_of(schema, raw["operationId"])
        row = None
        if result.name.endswith("Page"):
            row = self.type_of(self._resolve(schema)["properties"]["data"]["items"], raw["operationId"])
        return Operation(
            id=raw["operationId"],
            tag=tag,
            words=method_words(raw["operationId"], tag),
            http=http.upper(),
            path=path,
            summary=raw["summary"],
            about=raw["description"],
            ids=where("path"),
            query=where("query"),
            body=body,
            row=row,
            result=result,
        )


def words_of(name):
    """`list`, `chapter`, `members` of listChapterMembers."""
    return [word.lower() for word in re.findall(r"[A-Za-z][a-z0-9]*", name)]


def method_words(operation, tag):
    """The operation's words less the tag's own: members.list, groups.remove_member, store.get_order."""
    words = words_of(operation)
    if tag == "Service":
        return words
    own = {tag.lower(), tag.lower().removesuffix("s")}
    index = next(index for index, word in enumerate(words) if word in own)
    return words[:index] + words[index + 1 :]


def snake(name):
    return "_".join(words_of(name)) if re.search("[A-Z]", name) else name


def camel(words):
    return words[0] + "".join(word.capitalize() for word in words[1:])


def word_name(word):
    """The words of an enum's value: `payment.partially_paid`, `cards:read`."""
    return re.split(r"[.:_]", word)
