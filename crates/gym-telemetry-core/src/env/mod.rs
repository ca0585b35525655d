//! Names of environment variables, and the environment of child processes.

mod child;
mod scrub;

pub use child::ChildEnv;
pub use scrub::{is_telemetry_variable, scrub};

/// The prefix of the gym's own variables.
pub const GYM_PREFIX: &str = "NEMO_GYM_OTEL_";
/// The prefix of the variables that stand in where a gym variable is unset.
pub const LENS_PREFIX: &str = "NEMO_LENS_";
/// The prefix of the standard variables of OpenTelemetry.
pub const OTEL_PREFIX: &str = "OTEL_";

/// The variables of one setting, in order of precedence.
///
/// A variable that is blank counts as unset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    /// The gym's own variable.
    pub gym: &'static str,
    /// The variable that stands in where the gym's own is unset.
    pub lens: Option<&'static str>,
}

impl Setting {
    /// The variables in order of precedence.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        [Some(self.gym), self.lens].into_iter().flatten()
    }
}

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident = $suffix:literal $($kind:ident)?;)*) => {
        $(
            $(#[$doc])*
            pub const $name: Setting =
                Setting { gym: concat!("NEMO_GYM_OTEL_", $suffix), lens: settings!(@lens $suffix $($kind)?) };
        )*

        /// Every setting that has variables of its own.
        pub const SETTINGS: &[Setting] = &[$($name),*];
    };
    (@lens $suffix:literal) => { Some(concat!("NEMO_LENS_", $suffix)) };
    (@lens $suffix:literal gym_only) => { None };
}

settings! {
    /// The master switch.
    ENABLED = "ENABLED";
    /// The exporter of every signal.
    EXPORTER = "EXPORTER";
    /// The span groups.
    SPAN_GROUPS = "SPAN_GROUPS";
    /// Whether spans are exported.
    TRACES_ENABLED = "TRACES_ENABLED";
    /// Whether metrics are exported.
    METRICS_ENABLED = "METRICS_ENABLED";
    /// Whether log records are exported.
    LOGS_ENABLED = "LOGS_ENABLED";
    /// The id that all processes of the run share.
    RUN_ID = "RUN_ID";
    /// A label of the person or job that started the run.
    USER_ID = "USER_ID";
    /// Whether [`EXPORT_SAMPLE_RATE`] decides which processes export.
    SAMPLER_ENABLED = "SAMPLER_ENABLED";
    /// The share of processes that export.
    EXPORT_SAMPLE_RATE = "EXPORT_SAMPLE_RATE";
    /// Whether each server appends its own name to the service name.
    SERVICE_NAME_PER_SERVER = "SERVICE_NAME_PER_SERVER" gym_only;
    /// Whether each outbound request has a span.
    INSTRUMENT_AIOHTTP = "INSTRUMENT_AIOHTTP" gym_only;
    /// Whether memory is sampled.
    MEMORY_PROFILING_ENABLED = "MEMORY_PROFILING_ENABLED" gym_only;
    /// Seconds between two samples of memory.
    MEMORY_PROFILING_INTERVAL_SECONDS = "MEMORY_PROFILING_INTERVAL_SECONDS" gym_only;
    /// Seconds between two readings of a sandbox's resources.
    SANDBOX_RESOURCE_SAMPLE_INTERVAL_SECONDS = "SANDBOX_RESOURCE_SAMPLE_INTERVAL_SECONDS" gym_only;
    /// Further hosts that may receive trace headers, a comma-separated list; `*.suffix` is allowed.
    PROPAGATION_HOSTS = "PROPAGATION_HOSTS" gym_only;
}

macro_rules! variables {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        pub const $name: &str = stringify!($name);
    )*

        /// Every variable that is read and belongs to no [`Setting`].
        pub const VARIABLES: &[&str] = &[$($name),*];
    };
}

variables! {
    /// The base service name.
    OTEL_SERVICE_NAME
    /// Further resource attributes.
    OTEL_RESOURCE_ATTRIBUTES
    /// Switches everything off.
    OTEL_SDK_DISABLED
    /// The propagators; always trace context and baggage, `none` switches them off.
    OTEL_PROPAGATORS
    /// The exporter of spans.
    OTEL_TRACES_EXPORTER
    /// The exporter of metrics.
    OTEL_METRICS_EXPORTER
    /// The exporter of log records.
    OTEL_LOGS_EXPORTER
    /// The sampler.
    OTEL_TRACES_SAMPLER
    /// The argument of the sampler.
    OTEL_TRACES_SAMPLER_ARG
    /// Milliseconds between two exports of metrics.
    OTEL_METRIC_EXPORT_INTERVAL
    /// Milliseconds that an export of metrics may take.
    OTEL_METRIC_EXPORT_TIMEOUT
    /// The collector.
    OTEL_EXPORTER_OTLP_ENDPOINT
    /// The collector of spans.
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
    /// The collector of metrics.
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT
    /// The collector of log records.
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT
    /// Headers for the collector.
    OTEL_EXPORTER_OTLP_HEADERS
    /// Headers for the collector of spans.
    OTEL_EXPORTER_OTLP_TRACES_HEADERS
    /// Headers for the collector of metrics.
    OTEL_EXPORTER_OTLP_METRICS_HEADERS
    /// Headers for the collector of log records.
    OTEL_EXPORTER_OTLP_LOGS_HEADERS
    /// The protocol to the collector.
    OTEL_EXPORTER_OTLP_PROTOCOL
    /// The protocol to the collector of spans.
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL
    /// The protocol to the collector of metrics.
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL
    /// The protocol to the collector of log records.
    OTEL_EXPORTER_OTLP_LOGS_PROTOCOL
    /// Milliseconds that an export may take.
    OTEL_EXPORTER_OTLP_TIMEOUT
    /// Milliseconds that an export of spans may take.
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT
    /// Milliseconds that an export of metrics may take.
    OTEL_EXPORTER_OTLP_METRICS_TIMEOUT
    /// Milliseconds that an export of log records may take.
    OTEL_EXPORTER_OTLP_LOGS_TIMEOUT
    /// How requests to the collector are compressed: `gzip` or `none`.
    OTEL_EXPORTER_OTLP_COMPRESSION
    /// How requests to the collector of spans are compressed: `gzip` or `none`.
    OTEL_EXPORTER_OTLP_TRACES_COMPRESSION
    /// How requests to the collector of metrics are compressed: `gzip` or `none`.
    OTEL_EXPORTER_OTLP_METRICS_COMPRESSION
    /// How requests to the collector of log records are compressed: `gzip` or `none`.
    OTEL_EXPORTER_OTLP_LOGS_COMPRESSION
    /// The file with the certificates that the collector is trusted by, in PEM form.
    OTEL_EXPORTER_OTLP_CERTIFICATE
    /// The file with the certificates that the collector of spans is trusted by, in PEM form.
    OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE
    /// The file with the certificates that the collector of metrics is trusted by, in PEM form.
    OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE
    /// The file with the certificates that the collector of log records is trusted by, in PEM form.
    OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE
    /// The file with the certificate of this process for the collector, in PEM form.
    OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE
    /// The file with the certificate of this process for the collector of spans, in PEM form.
    OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE
    /// The file with the certificate of this process for the collector of metrics, in PEM form.
    OTEL_EXPORTER_OTLP_METRICS_CLIENT_CERTIFICATE
    /// The file with the certificate of this process for the collector of log records, in PEM form.
    OTEL_EXPORTER_OTLP_LOGS_CLIENT_CERTIFICATE
    /// The file with the private key of this process for the collector, in PEM form.
    OTEL_EXPORTER_OTLP_CLIENT_KEY
    /// The file with the private key of this process for the collector of spans, in PEM form.
    OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY
    /// The file with the private key of this process for the collector of metrics, in PEM form.
    OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY
    /// The file with the private key of this process for the collector of log records, in PEM form.
    OTEL_EXPORTER_OTLP_LOGS_CLIENT_KEY
    /// Whether the collector is spoken to in clear text where its address has no scheme.
    OTEL_EXPORTER_OTLP_INSECURE
    /// Whether the collector of spans is spoken to in clear text where its address has no scheme.
    OTEL_EXPORTER_OTLP_TRACES_INSECURE
    /// Whether the collector of metrics is spoken to in clear text where its address has no scheme.
    OTEL_EXPORTER_OTLP_METRICS_INSECURE
    /// Whether the collector of log records is spoken to in clear text where its address has no scheme.
    OTEL_EXPORTER_OTLP_LOGS_INSECURE
    /// Whether sums are exported since the start or since the last export.
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE
    /// The most attributes of anything that has no limit of its own.
    OTEL_ATTRIBUTE_COUNT_LIMIT
    /// The most characters of a text value where nothing has a limit of its own.
    OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT
    /// The most attributes of a span.
    OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT
    /// The most characters of a text value of a span.
    OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT
    /// The most events of a span.
    OTEL_SPAN_EVENT_COUNT_LIMIT
    /// The most links of a span.
    OTEL_SPAN_LINK_COUNT_LIMIT
    /// The most attributes of an event.
    OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT
    /// The most attributes of a link.
    OTEL_LINK_ATTRIBUTE_COUNT_LIMIT
    /// The most attributes of a log record.
    OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT
    /// The most characters of a text value of a log record.
    OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT
    /// Milliseconds that an ended span waits for others.
    OTEL_BSP_SCHEDULE_DELAY
    /// Milliseconds that an export of spans is waited for.
    OTEL_BSP_EXPORT_TIMEOUT
    /// The most spans that are open, queued or in export.
    OTEL_BSP_MAX_QUEUE_SIZE
    /// The most spans of one export.
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE
    /// Milliseconds that a log record waits for others.
    OTEL_BLRP_SCHEDULE_DELAY
    /// Milliseconds that an export of log records is waited for.
    OTEL_BLRP_EXPORT_TIMEOUT
    /// The most log records that are queued or in export.
    OTEL_BLRP_MAX_QUEUE_SIZE
    /// The most log records of one export.
    OTEL_BLRP_MAX_EXPORT_BATCH_SIZE
    /// The deployment, such as `staging`.
    DEPLOYMENT_ENV
    /// The deployment where [`DEPLOYMENT_ENV`] is unset.
    ENVIRONMENT
    /// The Weights & Biases entity.
    WANDB_ENTITY
    /// The Weights & Biases project.
    WANDB_PROJECT
    /// The GPUs this process may see.
    CUDA_VISIBLE_DEVICES
    /// The id of the Slurm job.
    SLURM_JOB_ID
    /// The name of the Slurm job.
    SLURM_JOB_NAME
    /// The nodes of the Slurm job.
    SLURM_NODELIST
    /// The number of nodes of the Slurm job.
    SLURM_NNODES
    /// The number of tasks of the Slurm job.
    SLURM_NTASKS
    /// The partition of the Slurm job.
    SLURM_JOB_PARTITION
    /// The Slurm cluster.
    SLURM_CLUSTER_NAME
    /// Set in every Kubernetes pod.
    KUBERNETES_SERVICE_HOST
    /// The namespace of the pod.
    K8S_NAMESPACE
    /// The name of the pod.
    K8S_POD_NAME
    /// The id of the pod.
    K8S_POD_UID
    /// The node of the pod.
    K8S_NODE_NAME
    /// The container in the pod.
    K8S_CONTAINER_NAME
    /// The Kubernetes job.
    K8S_JOB_NAME
    /// The name of the machine or pod.
    HOSTNAME
}
