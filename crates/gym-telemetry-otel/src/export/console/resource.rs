//! The resource on a line.

use opentelemetry_sdk::Resource;

use super::json::Json;

/// A resource, written once and then copied to each line.
pub(super) struct ResourceText(String);

impl ResourceText {
    /// Sorts the attributes: the SDK keeps them in an order that differs from process to process.
    pub(super) fn new(resource: &Resource) -> Self {
        let mut attributes: Vec<_> = resource.iter().collect();
        attributes.sort_unstable_by_key(|(key, _)| *key);
        let mut json = Json::default();
        json.object(|object| {
            object.key("attributes").object(|object| {
                for (key, value) in attributes {
                    object.key(key.as_str()).value(value);
                }
            });
            object
                .key("schema_url")
                .string(resource.schema_url().unwrap_or_default());
        });
        Self(json.into_string())
    }

    pub(super) fn write(&self, json: &mut Json) {
        json.raw(&self.0);
    }
}
