//! Spans that are built.

use super::SpanDescriptor;
use crate::attribute::{self, sandbox as key};
use crate::span::{self, SpanKind};
use crate::{SpanGroup, group};

/// A span inside one process.
const fn internal(
    name: &'static str,
    group: &'static SpanGroup,
    attributes: &'static [&'static [&'static str]],
) -> SpanDescriptor {
    SpanDescriptor {
        name,
        kind: SpanKind::Internal,
        group,
        attributes,
    }
}

/// Of what a server does for a rollout.
const SERVED: &[&str] = &[attribute::ROLLOUT_ID, attribute::SERVER_NAME];

/// What tells one request for sandboxes from another.
const ASKED: &[&str] = &[
    attribute::ROLLOUT_ID,
    key::COLLECTION_ID,
    key::PROVIDER,
    key::REQUEST_ID,
    key::SERVICE_ID,
];

/// The sandbox that a request brought.
const ID: &[&str] = &[key::ID];

/// How a reading of a provider went.
const READING: &[&str] = &[
    attribute::ERROR_TYPE,
    key::RESOURCE_SOURCE,
    key::RESOURCE_STATUS,
];

/// What requests of both directions have.
const REQUEST: &[&str] = &[
    attribute::ERROR_TYPE,
    attribute::HTTP_REQUEST_METHOD,
    attribute::HTTP_REQUEST_METHOD_ORIGINAL,
    attribute::HTTP_RESPONSE_STATUS_CODE,
    attribute::ROLLOUT_ID,
    attribute::SERVER_ADDRESS,
    attribute::SERVER_PORT,
];

/// Every span, sorted by name.
pub static SPANS: &[SpanDescriptor] = &[
    SpanDescriptor {
        name: "<method> <route>",
        kind: SpanKind::Server,
        group: &group::SERVER,
        attributes: &[
            REQUEST,
            &[
                attribute::HTTP_DISCONNECTED,
                attribute::HTTP_ROUTE,
                attribute::NETWORK_PROTOCOL_VERSION,
                attribute::URL_PATH,
                attribute::URL_SCHEME,
            ],
        ],
    },
    SpanDescriptor {
        name: "HTTP <method>",
        kind: SpanKind::Client,
        group: &group::HTTP_CLIENT,
        attributes: &[
            REQUEST,
            &[attribute::HTTP_REQUEST_RESEND_COUNT, attribute::URL_FULL],
        ],
    },
    internal(span::AGENT_RESPONSES, &group::AGENT, &[SERVED]),
    internal(span::AGENT_RUN, &group::AGENT, &[SERVED]),
    internal(span::JOB, &group::JOB, &[]),
    internal(span::MODEL_CHAT_COMPLETIONS, &group::MODEL_CALL, &[SERVED]),
    internal(span::MODEL_MESSAGES, &group::MODEL_CALL, &[SERVED]),
    internal(span::MODEL_RESPONSES, &group::MODEL_CALL, &[SERVED]),
    internal(span::ROLLOUT, &group::ROLLOUT, &[&[attribute::ROLLOUT_ID]]),
    internal(
        span::SANDBOX_EXEC,
        &group::SANDBOX,
        &[ASKED, ID, &[key::RETURN_CODE]],
    ),
    internal(
        span::SANDBOX_REQUEST,
        &group::SANDBOX,
        &[
            ASKED,
            &key::REQUESTED,
            &[
                key::REQUESTED_COUNT,
                key::REQUESTED_SIDECAR_COUNT,
                "nemo.gym.sandbox.requested.sidecar.<i>.cpu",
                "nemo.gym.sandbox.requested.sidecar.<i>.disk_gib",
                "nemo.gym.sandbox.requested.sidecar.<i>.gpu",
                "nemo.gym.sandbox.requested.sidecar.<i>.gpu_type",
                "nemo.gym.sandbox.requested.sidecar.<i>.memory_mib",
                "nemo.gym.sandbox.requested.sidecar.<i>.name",
            ],
        ],
    ),
    internal(
        span::SANDBOX_RESOURCE_ALLOCATION,
        &group::SANDBOX,
        &[
            ASKED,
            ID,
            READING,
            &[
                key::ALLOCATION_COMPONENT_COUNT,
                key::ALLOCATION_DESIGNATOR_ID,
                key::ALLOCATION_DESIGNATOR_KIND,
                key::ALLOCATION_DESIGNATOR_SCOPE,
                key::ALLOCATION_HOST_ID,
                key::ALLOCATION_HOST_KIND,
                key::ALLOCATION_HOST_SCOPE,
                "nemo.gym.sandbox.allocation.component.<i>.limits.cpu",
                "nemo.gym.sandbox.allocation.component.<i>.limits.disk_gib",
                "nemo.gym.sandbox.allocation.component.<i>.limits.gpu",
                "nemo.gym.sandbox.allocation.component.<i>.limits.gpu_type",
                "nemo.gym.sandbox.allocation.component.<i>.limits.memory_mib",
                "nemo.gym.sandbox.allocation.component.<i>.name",
                "nemo.gym.sandbox.allocation.component.<i>.requests.cpu",
                "nemo.gym.sandbox.allocation.component.<i>.requests.disk_gib",
                "nemo.gym.sandbox.allocation.component.<i>.requests.gpu",
                "nemo.gym.sandbox.allocation.component.<i>.requests.gpu_type",
                "nemo.gym.sandbox.allocation.component.<i>.requests.memory_mib",
            ],
        ],
    ),
    internal(
        span::SANDBOX_RESOURCE_SAMPLE,
        &group::SANDBOX,
        &[
            ASKED,
            ID,
            READING,
            &[
                key::SAMPLE_CPU_COUNT,
                key::SAMPLE_CPU_USED_PERCENTAGE,
                key::SAMPLE_MEMORY_TOTAL_MIB,
                key::SAMPLE_MEMORY_USED_MIB,
                key::SAMPLE_TIMESTAMP_MS,
            ],
        ],
    ),
    internal(
        span::SANDBOX_START,
        &group::SANDBOX,
        &[ASKED, ID, &key::SUBMITTED_LIMITS, &key::SUBMITTED_REQUESTS],
    ),
    internal(
        span::SANDBOX_STOP,
        &group::SANDBOX,
        &[ASKED, ID, &[key::ABANDONED]],
    ),
    internal(span::VERIFY, &group::VERIFY, &[SERVED]),
];
