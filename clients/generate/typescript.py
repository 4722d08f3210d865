"""TypeScript: models.ts and resources.ts of the package `bursar`."""

import re
import textwrap

from document import Type, camel, word_name

HEADER = "// {about}\n// Generated from the OpenAPI document by `python3 clients/generate`. Do not edit.\n"


def files(document):
    return {"models.ts": write_models(document), "resources.ts": write_resources(document)}


def comment(text, indent=""):
    width = 120 - len(indent) - 3
    lines = []
    for part in text.split("\n\n"):
        lines += ["", *textwrap.wrap(part, width, break_on_hyphens=False, break_long_words=False)]
    lines = lines[1:]
    if len(lines) == 1 and len(lines[0]) < width - 6:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines) + f"{indent} */\n"


def constant(word):
    return "".join(part.capitalize() for part in word_name(word))


def annotation(found):
    plain = {
        "string": "string",
        "integer": "number",
        "number": "number",
        "boolean": "boolean",
        "timestamp": "string",
        "date": "string",
        "null": "null",
        "object": "Record<string, unknown>",
        "enum": found.name,
        "model": found.name,
    }
    text = f"{annotation(found.items)}[]" if found.kind == "array" else plain[found.kind]
    return f"{text} | null" if found.nullable else text


def of_event(field):
    """An event's own resource is a literal, so that a comparison narrows the type."""
    if field.name == "resource" and field.type.kind == "enum":
        return f'"{field.type.words[0]}"'
    return annotation(field.type)


def write_models(document):
    out = [HEADER.format(about="What the server sends."), "\n"]
    # Each a literal in its event.
    own = {f"{name}Resource" for name in document.events}
    for name in sorted(set(document.enums) - own):
        words = document.enums[name]
        if len(words) == 1:
            out.append(f'export type {name} = "{words[0]}";\n\n')
            continue
        out.append(f"export const {name} = {{\n")
        out.extend(f'    {constant(word)}: "{word}",\n' for word in words)
        out.append(f"}} as const;\nexport type {name} = (typeof {name})[keyof typeof {name}];\n\n")
    for model in document.models.values():
        is_event = model.name in document.events
        out.append(comment(model.about or "One entry.") + f"export interface {model.name} {{\n")
        for field in model.fields:
            if field.about:
                out.append(comment(field.about, "    "))
            mark = "" if field.required else "?"
            out.append(f"    {field.name}{mark}: {of_event(field) if is_event else annotation(field.type)};\n")
        out.append("}\n\n")
    out.append(
        comment(
            "A write of a resource's row, as a list or a get gives it. A comparison of `resource` tells the type of `data`."
        )
    )
    out.append("export type Event =\n" + "".join(f"    | {name}\n" for name in document.events).rstrip() + ";\n\n")
    out.append(comment("As a webhook delivers it.") + "export type WebhookEvent = Event | TestEvent;\n")
    return "".join(out)


def write_resources(document):
    names = set()
    body = []
    for tag, about in document.tags:
        if tag != "Service":
            body.append("\n" + comment(about) + f"export class {tag} {{\n    readonly #http: Http;\n")
            body.append("\n    constructor(http: Http) {\n        this.#http = http;\n    }\n")
            body.extend(write_method(document, operation, "this.#http", names) for operation in document.of_tag(tag))
            body.append("}\n")
    body.append(
        "\n" + comment("Every operation, grouped by tag.") + "export class Operations {\n    readonly #http: Http;\n"
    )
    tags = [tag for tag, _ in document.tags if tag != "Service"]
    for tag in tags:
        body.append(comment(dict(document.tags)[tag], "    ") + f"    readonly {tag.lower()}: {tag};\n")
    body.append("\n    constructor(http: Http) {\n        this.#http = http;\n")
    body.extend(f"        this.{tag.lower()} = new {tag}(http);\n" for tag in tags)
    body.append("    }\n")
    body.extend(write_method(document, operation, "this.#http", names) for operation in document.of_tag("Service"))
    body.append("}\n")

    arguments = []
    for operation in document.operations:
        if operation.query or operation.body:
            arguments.append(write_arguments(operation, names))
    out = [HEADER.format(about="The operations of the API, grouped as its reference groups them."), "\n"]
    out.append('import { Http, pathPart, type RequestOptions, type WriteOptions } from "../http.js";\n')
    out.append('import { Walk } from "../paging.js";\n')
    out.append("import type {\n" + "".join(f"    {name},\n" for name in sorted(names)) + '} from "./models.js";\n')
    return "".join(out + arguments + body)


def arguments_name(operation):
    """ListMembersFilters, CreateGroupFields."""
    return operation.id[0].upper() + operation.id[1:] + ("Fields" if operation.is_write else "Filters")


def write_arguments(operation, names):
    out = ["\n" + comment(f"What {'.'.join([operation.tag.lower(), camel(operation.words)])} takes.")]
    out.append(f"export interface {arguments_name(operation)} {{\n")
    for field in operation.query + operation.body:
        if field.type.kind == "enum":
            names.add(field.type.name)
        if field.about:
            out.append(comment(field.about, "    "))
        kind = "string | Date" if field.type.kind == "timestamp" else annotation(field.type)
        out.append(
            f"    {field.name}{'' if field.required else '?'}: {kind}{'' if field.required else ' | undefined'};\n"
        )
    return "".join(out) + "}\n"


def write_method(document, operation, http, names):
    result = operation.row or operation.result
    if result.kind == "model":
        names.add(result.name)
    shown = annotation(Type(result.kind, result.name))
    arguments = [f"{field.name}: string" for field in operation.ids]
    if operation.row:
        arguments.append(f"filters: {arguments_name(operation)} = {{}}")
    elif operation.body:
        arguments.append(f"fields: {arguments_name(operation)}")
    arguments.append(f"options: {'WriteOptions' if operation.is_write else 'RequestOptions'} = {{}}")
    returns = f"Walk<{shown}>" if operation.row else f"Promise<{shown}>"
    text = [f"{operation.summary}.", operation.about]
    path = re.sub(r"\{(\w+)\}", r"${pathPart(\1)}", operation.path)
    path = f"`{path}`" if operation.ids else f'"{path}"'
    out = ["\n" + comment("\n\n".join(text), "    ")]
    name = camel(operation.words)
    signature = call(f"    {name}(", arguments, f"): {returns} {{", "    ")
    out.append(signature)
    if operation.row:
        row = document.events[0] if operation.row.name == "Event" else operation.row.name
        fields = [field.name for field in document.models[row].fields]
        time = "updatedAt" if "updatedAt" in fields else "createdAt"
        since = next(field.name for field in operation.query if field.name.endswith("Since"))
        values = [http, path, "{ ...filters }", f"filters.{since}", f'"{time}"', "options"]
        line = call("        return new Walk(", values, ");", "        ")
    else:
        body = "undefined" if not operation.is_write else "{ ...fields }" if operation.body else "{}"
        values = [f'"{operation.http}"', path, "{}", body, "options"]
        line = call(f"        return {http}.request(", values, ");", "        ")
    return "".join(out) + line + "    }\n"


def call(start, values, end, indent):
    """On one line if it fits, as prettier writes it."""
    line = f"{start}{', '.join(values)}{end}\n"
    if len(line) <= 121:
        return line
    return f"{start}\n" + "".join(f"{indent}    {one},\n" for one in values) + f"{indent}{end}\n"
