//! Reading OpenSandbox.

mod client;
mod endpoint;
mod error;
pub mod inspect;
pub mod metrics;
mod tls;
mod url;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderMap, HeaderName, HeaderValue, header};

use self::client::{Client, Framing};
use self::endpoint::Endpoint;
pub use self::error::OpenSandboxError;
use self::url::ControlPlane;
use crate::allocation::{Allocation, Designator, Host, HostKind};
use crate::reader::{Reading, ResourceReader};
use crate::sample::Sample;
use crate::unavailable::Unavailable;

/// The largest inspection that is read; an honest one of a hundred containers is an eighth of it.
const LARGEST_INSPECTION: usize = 4 << 20;
/// The largest answer of any other kind.
const LARGEST_ANSWER: usize = 64 << 10;

static API_KEY: HeaderName = HeaderName::from_static("open-sandbox-api-key");
static EXECD_TOKEN: HeaderName = HeaderName::from_static("x-execd-access-token");
/// A reading must not keep a sandbox alive.
static ACCESS_RENEW: HeaderName = HeaderName::from_static("opensandbox-access-renew");

/// A control plane of OpenSandbox, and how its sandboxes are reached. Cloning is cheap.
///
/// Nothing is connected before the first reading. Redirects are not followed, and the API key goes to the control
/// plane alone: a sandbox that is reached directly never sees it.
///
/// ```
/// use gym_sandbox_obs::opensandbox::OpenSandbox;
///
/// let sandboxes = OpenSandbox::builder("https://osb.example:8443/v1").api_key("key").build()?;
/// let reader = sandboxes.reader("sb-1");
/// assert!(!format!("{reader:?}").contains("key"));
/// # Ok::<(), gym_sandbox_obs::opensandbox::OpenSandboxError>(())
/// ```
#[derive(Clone)]
pub struct OpenSandbox(Arc<Shared>);

struct Shared {
    control_plane: ControlPlane,
    api_key: Option<HeaderValue>,
    execd_token: Option<HeaderValue>,
    server_proxy: bool,
    client: Client,
}

impl OpenSandbox {
    /// Begins with the URL of the control plane, its version included: `https://osb.example/v1`. User information,
    /// query and fragment of the URL are left out.
    pub fn builder(control_plane: &str) -> OpenSandboxBuilder<'_> {
        OpenSandboxBuilder {
            control_plane,
            api_key: None,
            execd_token: None,
            server_proxy: false,
        }
    }

    /// Reads the sandbox with this id.
    #[must_use]
    pub fn reader(&self, sandbox_id: impl Into<String>) -> OpenSandboxReader {
        OpenSandboxReader {
            shared: self.clone(),
            sandbox_id: sandbox_id.into(),
            endpoint: Mutex::new(None),
        }
    }
}

impl fmt::Debug for OpenSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSandbox")
            .field("control_plane", &self.0.control_plane.scope())
            .field("server_proxy", &self.0.server_proxy)
            .finish_non_exhaustive()
    }
}

/// Describes a control plane; [`OpenSandbox::builder`] makes one.
#[derive(Clone)]
#[must_use = "it is only a description"]
pub struct OpenSandboxBuilder<'a> {
    control_plane: &'a str,
    api_key: Option<&'a str>,
    execd_token: Option<&'a str>,
    server_proxy: bool,
}

impl<'a> OpenSandboxBuilder<'a> {
    /// The key that the control plane asks for.
    pub fn api_key(mut self, key: &'a str) -> Self {
        self.api_key = Some(key);
        self
    }

    /// The token that the sandboxes' own servers ask for, if they were started with one.
    pub fn execd_token(mut self, token: &'a str) -> Self {
        self.execd_token = Some(token);
        self
    }

    /// Whether sandboxes are reached by way of the control plane, instead of directly.
    pub fn server_proxy(mut self, server_proxy: bool) -> Self {
        self.server_proxy = server_proxy;
        self
    }

    /// Builds it.
    ///
    /// # Errors
    ///
    /// When the URL is no `http` or `https` URL of a host, when its user information may reach into its path because it
    /// is not encoded, or when a secret cannot be sent in a header.
    pub fn build(self) -> Result<OpenSandbox, OpenSandboxError> {
        let secret = |what: &'static str, text: Option<&str>| {
            text.map(|text| {
                let mut value =
                    HeaderValue::from_str(text).map_err(|_| OpenSandboxError::secret(what))?;
                value.set_sensitive(true);
                Ok(value)
            })
            .transpose()
        };
        Ok(OpenSandbox(Arc::new(Shared {
            control_plane: ControlPlane::parse(self.control_plane)?,
            api_key: secret("API key", self.api_key)?,
            execd_token: secret("token", self.execd_token)?,
            server_proxy: self.server_proxy,
            client: Client::default(),
        })))
    }
}

impl fmt::Debug for OpenSandboxBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSandboxBuilder")
            .field("server_proxy", &self.server_proxy)
            .finish_non_exhaustive()
    }
}

/// Reads the allocation of a sandbox from the inspection endpoint and samples from the sandbox's own server.
///
/// Where a sample is taken inside a plain container it shows the node: see [`metrics`].
#[derive(Debug)]
pub struct OpenSandboxReader {
    shared: OpenSandbox,
    sandbox_id: String,
    /// Where the sandbox's own server is. Finding out takes time that a reading, which takes a second, does not have.
    endpoint: Mutex<Option<Arc<Endpoint>>>,
}

impl OpenSandboxReader {
    fn url(&self, path: &str) -> Result<http::Uri, Unavailable> {
        let control_plane = &self.shared.0.control_plane;
        control_plane
            .sandbox(&self.sandbox_id, path)
            .ok_or(Unavailable::UnrecognizedResponse)
    }

    /// The headers of a request to the control plane.
    fn own_headers(&self) -> HeaderMap {
        let key = self.shared.0.api_key.clone();
        key.map(|key| (API_KEY.clone(), key)).into_iter().collect()
    }

    async fn read_allocation(&self) -> Result<Allocation, Unavailable> {
        let shared = &self.shared.0;
        let url = self.url("diagnostics/inspect")?;
        let body = shared
            .client
            .get(
                url,
                self.own_headers(),
                LARGEST_INSPECTION,
                Framing::Certain,
            )
            .await?;
        let text = str::from_utf8(&body).map_err(|_| Unavailable::UnrecognizedResponse)?;
        let inspection = inspect::parse(text)?;
        let scope = || shared.control_plane.scope().to_owned();
        Ok(Allocation {
            components: inspection.components,
            designator: inspection.designator.map(|(kind, id)| Designator {
                kind,
                scope: scope(),
                id,
            }),
            host: inspection.node.map(|id| Host {
                kind: HostKind::KubernetesNode,
                scope: scope(),
                id,
            }),
        })
    }

    /// The endpoint that is known, or the one that the control plane names.
    async fn endpoint(&self) -> Result<Arc<Endpoint>, Unavailable> {
        if let Some(known) = self.known_endpoint()
            && known.is_fresh()
        {
            return Ok(known);
        }
        let shared = &self.shared.0;
        let path = if shared.server_proxy {
            "endpoints/44772?use_server_proxy=true"
        } else {
            "endpoints/44772"
        };
        let url = self.url(path).map_err(of_sample)?;
        let body = shared
            .client
            .get(url, self.own_headers(), LARGEST_ANSWER, Framing::Any)
            .await
            .map_err(of_sample)?;
        let endpoint = Endpoint::parse(&body, &shared.control_plane, shared.server_proxy)?;
        let endpoint = Arc::new(endpoint);
        self.keep(Some(Arc::clone(&endpoint)));
        Ok(endpoint)
    }

    async fn read_sample(&self) -> Result<Sample, Unavailable> {
        let endpoint = self.endpoint().await?;
        let shared = &self.shared.0;
        let mut headers = endpoint.headers.clone();
        headers.insert(ACCESS_RENEW.clone(), HeaderValue::from_static("skip"));
        if let Some(token) = &shared.execd_token {
            headers.insert(EXECD_TOKEN.clone(), token.clone());
        }
        if let Some(key) = &shared.api_key
            && endpoint.is_control_plane
        {
            headers.insert(API_KEY.clone(), key.clone());
        } else {
            headers.remove(&API_KEY);
        }
        if !endpoint.is_control_plane {
            // Every sandbox is another host: connections that were kept would be as many as sandboxes.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        let url = endpoint.metrics.clone();
        // Without an answer the sandbox may be elsewhere by now. A reading that takes too long is dropped in here.
        self.keep(None);
        let answer = shared
            .client
            .get(url, headers, LARGEST_ANSWER, Framing::Any)
            .await
            .map_err(of_sample);
        if answer != Err(Unavailable::Connection) {
            self.keep(Some(endpoint));
        }
        metrics::parse(&answer?)
    }

    fn known_endpoint(&self) -> Option<Arc<Endpoint>> {
        let endpoint = self.endpoint.lock().unwrap_or_else(PoisonError::into_inner);
        endpoint.clone()
    }

    fn keep(&self, endpoint: Option<Arc<Endpoint>>) {
        *self.endpoint.lock().unwrap_or_else(PoisonError::into_inner) = endpoint;
    }
}

/// What is no HTTP, or no sandbox, is no reading.
fn of_sample(error: Unavailable) -> Unavailable {
    match error {
        Unavailable::UnrecognizedResponse => Unavailable::MalformedReading,
        other => other,
    }
}

impl ResourceReader for OpenSandboxReader {
    fn allocation_source(&self) -> &'static str {
        "opensandbox.inspect"
    }

    fn sample_source(&self) -> &'static str {
        "opensandbox.execd"
    }

    fn prepare(&self) -> Reading<'_, ()> {
        Box::pin(async { self.endpoint().await.map(drop) })
    }

    fn allocation(&self) -> Reading<'_, Allocation> {
        Box::pin(self.read_allocation())
    }

    fn sample(&self) -> Reading<'_, Sample> {
        Box::pin(self.read_sample())
    }
}
