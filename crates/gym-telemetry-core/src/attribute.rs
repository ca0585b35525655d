//! Attribute keys of spans, events, metrics and resources.
//!
//! These are wire format, shared with servers in other languages: use the constants, never the literals.

pub mod sandbox;

/// The id of the rollout a span belongs to; never on a metric.
pub const ROLLOUT_ID: &str = "nemo.gym.rollout.id";
/// The configured name of the server, on its spans and its resource.
pub const SERVER_NAME: &str = "nemo.gym.server.name";
/// The kind of the server, see [`ServerType`](crate::ServerType).
pub const SERVER_TYPE: &str = "nemo.gym.server.type";
/// `true` on the server span of a request whose client went away before the response was complete.
pub const HTTP_DISCONNECTED: &str = "nemo.gym.http.disconnected";

/// The kind of component that owns a concurrency limit.
pub const CONCURRENCY_COMPONENT: &str = "nemo.gym.concurrency.component";
/// What a concurrency limit bounds; a name that the code chose, never an id.
pub const CONCURRENCY_LIMIT_NAME: &str = "nemo.gym.concurrency.limit_name";
/// How a wait for a slot ended.
pub const CONCURRENCY_WAIT_OUTCOME: &str = "nemo.gym.concurrency.wait_outcome";

/// The API of a model call: `chat`, `responses`, `messages` or `unknown`.
pub const MODEL_CALL_DIALECT: &str = "nemo.gym.model_call.dialect";
/// How a model call ended: `ok` or the category of its error.
pub const MODEL_CALL_OUTCOME: &str = "nemo.gym.model_call.outcome";
/// Which tokens of a model call are counted: `input`, `output` or `reasoning`.
pub const MODEL_CALL_TOKEN_TYPE: &str = "nemo.gym.model_call.token.type";
/// Why the model stopped, in its own word.
pub const MODEL_CALL_FINISH_REASON: &str = "nemo.gym.model_call.finish_reason";

/// What came of a rollout: `scored` or `dropped`.
pub const ROLLOUT_OUTCOME: &str = "nemo.gym.rollout.outcome";
/// The kind of failure that a rollout was dropped for.
pub const FAILURE_CLASS: &str = "nemo.gym.failure_class";
/// What went wrong within that kind of failure.
pub const FAILURE_REASON: &str = "nemo.gym.failure_reason";

/// `true` on a span that was still open when telemetry shut down.
pub const SPAN_TRUNCATED: &str = "nemo.span.truncated";
/// Why a span was truncated, on the event of the same name.
pub const SPAN_TRUNCATED_REASON: &str = "nemo.span.truncated.reason";
/// The value of [`SPAN_TRUNCATED_REASON`] for a span that shutdown found open.
pub const SPAN_TRUNCATED_AT_SHUTDOWN: &str = "still open at telemetry shutdown";

/// A part of telemetry itself, one of its type in the process.
pub const OTEL_COMPONENT_NAME: &str = "otel.component.name";
/// What kind of part of telemetry it is.
pub const OTEL_COMPONENT_TYPE: &str = "otel.component.type";
/// Whether started spans are recorded: `RECORD_AND_SAMPLE` or `DROP`.
pub const OTEL_SPAN_SAMPLING_RESULT: &str = "otel.span.sampling_result";

/// The class of an error, low in cardinality.
pub const ERROR_TYPE: &str = "error.type";
/// The type of an error, on an `exception` event.
pub const EXCEPTION_TYPE: &str = "exception.type";
/// The message of an error, on an `exception` event.
pub const EXCEPTION_MESSAGE: &str = "exception.message";
/// Where an error came from, on an `exception` event.
pub const EXCEPTION_STACKTRACE: &str = "exception.stacktrace";
/// Whether an error left the span, as the text `True` or `False`, on an `exception` event.
pub const EXCEPTION_ESCAPED: &str = "exception.escaped";

/// The source file that a log record comes from.
pub const CODE_FILE_PATH: &str = "code.file.path";
/// The line of [`CODE_FILE_PATH`].
pub const CODE_LINE_NUMBER: &str = "code.line.number";

/// The method of an HTTP request.
pub const HTTP_REQUEST_METHOD: &str = "http.request.method";
/// The method as it was sent, where [`HTTP_REQUEST_METHOD`] is `_OTHER`.
pub const HTTP_REQUEST_METHOD_ORIGINAL: &str = "http.request.method_original";
/// How often a request was sent again; absent on a request that was sent once.
pub const HTTP_REQUEST_RESEND_COUNT: &str = "http.request.resend_count";
/// The status code of an HTTP response.
pub const HTTP_RESPONSE_STATUS_CODE: &str = "http.response.status_code";
/// The matched route, a template such as `/v1/responses/{id}`.
pub const HTTP_ROUTE: &str = "http.route";
/// The version of the protocol, such as `1.1` or `2`.
pub const NETWORK_PROTOCOL_VERSION: &str = "network.protocol.version";
/// The host a request went to.
pub const SERVER_ADDRESS: &str = "server.address";
/// The port a request went to.
pub const SERVER_PORT: &str = "server.port";
/// The URL of an outbound request, without user information, query and fragment.
pub const URL_FULL: &str = "url.full";
/// The path of an inbound request.
pub const URL_PATH: &str = "url.path";
/// The scheme of a URL.
pub const URL_SCHEME: &str = "url.scheme";

/// The name of the service, with the server's name after a slash where servers are told apart.
pub const SERVICE_NAME: &str = "service.name";
/// The version of the program.
pub const SERVICE_VERSION: &str = "service.version";
/// One id per process; starts with the run id.
pub const SERVICE_INSTANCE_ID: &str = "service.instance.id";
/// The service name without the server's suffix.
pub const SERVICE_GROUP: &str = "nemo.gym.service_group";
/// The version of the gym.
pub const GYM_VERSION: &str = "nemo.gym.version";
/// The id that all processes of one run share.
pub const RUN_ID: &str = "nemo.run.id";
/// A label of the person or job that started the run.
pub const USER_ID: &str = "nemo.user.id";
/// The rank of the process in a distributed job; always 0 for a gym process.
pub const RANK: &str = "nv.dl.rank";
/// The size of the distributed job; always 1 for a gym process.
pub const WORLD_SIZE: &str = "nv.dl.world_size";
/// The Weights & Biases entity.
pub const WANDB_ENTITY: &str = "wandb.entity";
/// The Weights & Biases project.
pub const WANDB_PROJECT: &str = "wandb.project";
/// The deployment, such as `staging`.
pub const DEPLOYMENT_ENVIRONMENT: &str = "deployment.environment";
/// The name of this machine.
pub const HOST_NAME: &str = "host.name";
/// The number of GPUs this process can see.
pub const HOST_GPU_COUNT: &str = "host.gpu.count";
/// The id of the process.
pub const PROCESS_PID: &str = "process.pid";
/// What the CPU time was spent on: `user` or `system`.
pub const CPU_MODE: &str = "cpu.mode";
/// What is counted as memory: `rss`, resident, or `pss`, resident with shared pages divided.
pub const MEMORY_TYPE: &str = "memory.type";
/// The language of the telemetry implementation.
pub const TELEMETRY_SDK_LANGUAGE: &str = "telemetry.sdk.language";
/// The name of the telemetry implementation.
pub const TELEMETRY_SDK_NAME: &str = "telemetry.sdk.name";
/// The version of the telemetry implementation.
pub const TELEMETRY_SDK_VERSION: &str = "telemetry.sdk.version";

/// The id of the Slurm job.
pub const SLURM_JOB_ID: &str = "slurm.job.id";
/// The name of the Slurm job.
pub const SLURM_JOB_NAME: &str = "slurm.job.name";
/// The nodes of the Slurm job.
pub const SLURM_NODELIST: &str = "slurm.nodelist";
/// The number of nodes of the Slurm job.
pub const SLURM_NNODES: &str = "slurm.nnodes";
/// The number of tasks of the Slurm job.
pub const SLURM_NTASKS: &str = "slurm.ntasks";
/// The partition of the Slurm job.
pub const SLURM_PARTITION: &str = "slurm.partition";
/// The Slurm cluster.
pub const SLURM_CLUSTER_NAME: &str = "slurm.cluster.name";

/// The namespace of the Kubernetes pod.
pub const K8S_NAMESPACE_NAME: &str = "k8s.namespace.name";
/// The name of the Kubernetes pod.
pub const K8S_POD_NAME: &str = "k8s.pod.name";
/// The id of the Kubernetes pod.
pub const K8S_POD_UID: &str = "k8s.pod.uid";
/// The node of the Kubernetes pod.
pub const K8S_NODE_NAME: &str = "k8s.node.name";
/// The container in the Kubernetes pod.
pub const K8S_CONTAINER_NAME: &str = "k8s.container.name";
/// The Kubernetes job.
pub const K8S_JOB_NAME: &str = "k8s.job.name";
