//! Reads the OpenAPI document that the reference is made from.

use serde_json::Value;

#[derive(Debug)]
pub(super) struct Document {
    pub(super) root: Value,
    /// Without a slash at the end.
    pub(super) base_url: String,
}

/// Method, path and operation.
#[derive(Clone, Copy)]
pub(super) struct Operation<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) value: &'a Value,
}

impl<'a> Operation<'a> {
    pub(super) fn id(self) -> &'a str {
        text(&self.value["operationId"])
    }

    pub(super) fn tag(self) -> &'a str {
        text(&self.value["tags"][0])
    }

    pub(super) fn is_write(self) -> bool {
        self.method != "get"
    }

    /// The first example of the body, if it has one.
    pub(super) fn example_body(self) -> Option<&'a Value> {
        let examples = &self.value["requestBody"]["content"]["application/json"]["examples"];
        entries(examples).next().map(|(_, example)| &example["value"])
    }

    /// The status and the content of the response that says that it worked.
    pub(super) fn success(self) -> Option<(&'a str, &'a Value)> {
        entries(&self.value["responses"]).find(|(status, _)| status.starts_with('2'))
    }

    /// The name of the schema of that response.
    pub(super) fn returns(self) -> Option<&'a str> {
        let (_, response) = self.success()?;
        schema_name(&response["content"]["application/json"]["schema"])
    }
}

impl Document {
    pub(super) fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        entries(&self.root["paths"]).flat_map(|(path, methods)| {
            entries(methods).map(move |(method, value)| Operation { method, path, value })
        })
    }

    /// Lists first, then single resources, then writes.
    pub(super) fn of_tag(&self, tag: &str) -> Vec<Operation<'_>> {
        let mut all: Vec<_> = self.operations().filter(|one| one.tag() == tag).collect();
        all.sort_by_key(|one| (one.is_write(), one.path.ends_with('}')));
        all
    }

    pub(super) fn tag(&self, name: &str) -> &Value {
        items(&self.root["tags"])
            .find(|tag| tag["name"] == name)
            .unwrap_or(&Value::Null)
    }

    pub(super) fn schemas(&self) -> impl Iterator<Item = (&str, &Value)> {
        entries(&self.root["components"]["schemas"])
    }

    pub(super) fn schema(&self, name: &str) -> &Value {
        &self.root["components"]["schemas"][name]
    }

    /// Follows a `$ref`, if the value is one.
    pub(super) fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str().and_then(|name| name.strip_prefix('#')) {
            Some(pointer) => self.root.pointer(pointer).unwrap_or(value),
            None => value,
        }
    }

    pub(super) fn parameters<'a>(&'a self, operation: Operation<'a>) -> impl Iterator<Item = &'a Value> {
        items(&operation.value["parameters"]).map(|parameter| self.resolve(parameter))
    }
}

/// The name in a `$ref` to a schema.
pub(super) fn schema_name(value: &Value) -> Option<&str> {
    value["$ref"].as_str()?.rsplit('/').next()
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

pub(super) fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), value))
}

pub(super) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
