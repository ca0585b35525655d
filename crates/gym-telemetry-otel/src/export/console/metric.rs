//! One collection of metrics as one line.

use opentelemetry_sdk::metrics::Temporality;
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, Gauge, Histogram, Metric, MetricData, ResourceMetrics, ScopeMetrics, Sum,
};

use super::json::{Json, Object};
use super::resource::ResourceText;
use super::time::unix_nanos;

/// The SDK takes no exemplars.
const NO_EXEMPLARS: [(); 0] = [];

/// The line of everything in `metrics`, without its line break.
pub(super) fn line(metrics: &ResourceMetrics, resource: &ResourceText) -> String {
    let mut json = Json::default();
    json.object(|object| {
        object
            .key("resource_metrics")
            .array([metrics], |json, metrics| {
                json.object(|object| {
                    resource.write(object.key("resource"));
                    object
                        .key("scope_metrics")
                        .array(metrics.scope_metrics(), scope_metrics);
                    object.key("schema_url").string("");
                });
            });
    });
    json.into_string()
}

fn scope_metrics(json: &mut Json, metrics: &ScopeMetrics) {
    let scope = metrics.scope();
    json.object(|object| {
        object.key("scope").object(|object| {
            object.key("name").string(scope.name());
            match scope.version() {
                Some(version) => object.key("version").string(version),
                None => object.key("version").null(),
            }
            object
                .key("schema_url")
                .string(scope.schema_url().unwrap_or_default());
            object
                .key("attributes")
                .attributes_or_null(scope.attributes());
        });
        object.key("metrics").array(metrics.metrics(), metric);
        object
            .key("schema_url")
            .string(scope.schema_url().unwrap_or_default());
    });
}

fn metric(json: &mut Json, metric: &Metric) {
    json.object(|object| {
        object.key("name").string(metric.name());
        object.key("description").string(metric.description());
        object.key("unit").string(metric.unit());
        let data = object.key("data");
        match metric.data() {
            AggregatedMetrics::F64(metrics) => write_data(data, metrics),
            AggregatedMetrics::U64(metrics) => write_data(data, metrics),
            AggregatedMetrics::I64(metrics) => write_data(data, metrics),
        }
    });
}

/// What the SDK counts in.
trait Number: Copy {
    fn write(self, json: &mut Json);
}

impl Number for f64 {
    fn write(self, json: &mut Json) {
        json.float(self);
    }
}

impl Number for u64 {
    fn write(self, json: &mut Json) {
        json.integer(self);
    }
}

impl Number for i64 {
    fn write(self, json: &mut Json) {
        json.integer(self);
    }
}

fn write_data<T: Number>(json: &mut Json, data: &MetricData<T>) {
    json.object(|object| match data {
        MetricData::Gauge(gauge) => write_gauge(object, gauge),
        MetricData::Sum(sum) => write_sum(object, sum),
        MetricData::Histogram(histogram) => write_histogram(object, histogram),
        // Only a view could ask for one, and there are no views.
        MetricData::ExponentialHistogram(_) => {}
    });
}

fn write_gauge<T: Number>(object: &mut Object<'_>, gauge: &Gauge<T>) {
    object
        .key("data_points")
        .array(gauge.data_points(), |json, point| {
            json.object(|object| {
                object.key("attributes").attributes(point.attributes());
                object.key("start_time_unix_nano").null();
                object
                    .key("time_unix_nano")
                    .integer(unix_nanos(gauge.time()));
                point.value().write(object.key("value"));
                object
                    .key("exemplars")
                    .array(NO_EXEMPLARS, |json, ()| json.null());
            });
        });
}

fn write_sum<T: Number>(object: &mut Object<'_>, sum: &Sum<T>) {
    object
        .key("data_points")
        .array(sum.data_points(), |json, point| {
            json.object(|object| {
                object.key("attributes").attributes(point.attributes());
                object
                    .key("start_time_unix_nano")
                    .integer(unix_nanos(sum.start_time()));
                object.key("time_unix_nano").integer(unix_nanos(sum.time()));
                point.value().write(object.key("value"));
                object
                    .key("exemplars")
                    .array(NO_EXEMPLARS, |json, ()| json.null());
            });
        });
    object
        .key("aggregation_temporality")
        .integer(temporality(sum.temporality()));
    object.key("is_monotonic").bool(sum.is_monotonic());
}

fn write_histogram<T: Number>(object: &mut Object<'_>, histogram: &Histogram<T>) {
    object
        .key("data_points")
        .array(histogram.data_points(), |json, point| {
            json.object(|object| {
                object.key("attributes").attributes(point.attributes());
                object
                    .key("start_time_unix_nano")
                    .integer(unix_nanos(histogram.start_time()));
                object
                    .key("time_unix_nano")
                    .integer(unix_nanos(histogram.time()));
                object.key("count").integer(point.count());
                point.sum().write(object.key("sum"));
                object
                    .key("bucket_counts")
                    .array(point.bucket_counts(), Json::integer);
                object
                    .key("explicit_bounds")
                    .array(point.bounds(), Json::float);
                optional(object.key("min"), point.min());
                optional(object.key("max"), point.max());
                object
                    .key("exemplars")
                    .array(NO_EXEMPLARS, |json, ()| json.null());
            });
        });
    object
        .key("aggregation_temporality")
        .integer(temporality(histogram.temporality()));
}

fn optional<T: Number>(json: &mut Json, value: Option<T>) {
    match value {
        Some(value) => value.write(json),
        None => json.null(),
    }
}

/// The number that the OTLP definition gives it.
fn temporality(temporality: Temporality) -> i64 {
    match temporality {
        Temporality::Delta => 1,
        _ => 2,
    }
}
