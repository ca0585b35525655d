//! One sample after the other, and the highest of them.

use std::path::Path;
use std::sync::Arc;

use gym_telemetry_core::{MemoryPeaks, ProfiledServer, ServerPeaks, Value, attribute, metric};

use super::files::HostMemory;
use super::tree::{Tree, Trees};
use crate::metrics::Observer;

/// Takes samples of the machine and of servers.
#[derive(Debug)]
pub(super) struct Sampler {
    trees: Trees,
    servers: Vec<Watched>,
    peaks: MemoryPeaks,
}

/// A server whose memory is sampled.
#[derive(Debug)]
struct Watched {
    server: Arc<ProfiledServer>,
    life: Life,
    /// Where its peaks are.
    peaks: usize,
}

/// Which process the id of a server stands for: ids are used again.
#[derive(Clone, Copy, Debug)]
enum Life {
    /// Not sampled yet.
    Unknown,
    /// The one that started then.
    Since(u64),
    /// None any more.
    Over,
}

/// What one sample found.
#[derive(Debug)]
pub(super) struct Sample {
    host: Option<HostMemory>,
    servers: Vec<ServerSample>,
    /// The highest of all samples up to this one.
    pub(super) peaks: MemoryPeaks,
}

#[derive(Debug)]
struct ServerSample {
    server: Arc<ProfiledServer>,
    tree: Tree,
    /// Where its peaks are.
    peaks: usize,
}

impl Sampler {
    pub(super) fn new(
        root: &Path,
        page_size: u64,
        servers: impl IntoIterator<Item = ProfiledServer>,
    ) -> Self {
        let mut peaks = MemoryPeaks::default();
        let mut watch = |server: ProfiledServer| {
            let known = peaks.servers.iter().position(|peaks| peaks.is_of(&server));
            let index = known.unwrap_or(peaks.servers.len());
            if known.is_none() {
                peaks.servers.push(ServerPeaks::none_of(&server));
            }
            Watched {
                server: Arc::new(server),
                life: Life::Unknown,
                peaks: index,
            }
        };
        let servers = servers.into_iter().map(&mut watch).collect();
        Self {
            trees: Trees::new(root, page_size),
            servers,
            peaks,
        }
    }

    /// Takes a sample, which `is_exact` if nothing of earlier ones may be used for it.
    pub(super) fn sample(&mut self, is_exact: bool) -> Sample {
        self.trees.begin(is_exact);
        let host = self.trees.host_memory();
        let used = host.map(HostMemory::used);
        self.peaks.host_bytes = self.peaks.host_bytes.max(used);
        let mut samples = Vec::with_capacity(self.servers.len());
        for watched in &mut self.servers {
            let pid = watched.server.pid();
            if !watched.life.goes_on(&mut self.trees, pid) {
                continue;
            }
            let tree = self.trees.measure(pid);
            // If it has ended meanwhile, what was measured may be somebody else's.
            if tree.processes == 0 || !watched.life.goes_on(&mut self.trees, pid) {
                continue;
            }
            self.peaks.servers[watched.peaks].raise(tree.processes, tree.rss, tree.pss);
            samples.push(ServerSample {
                server: Arc::clone(&watched.server),
                tree,
                peaks: watched.peaks,
            });
        }
        Sample {
            host,
            servers: samples,
            peaks: self.peaks.clone(),
        }
    }
}

impl Life {
    /// Whether the process with that id is still the server.
    fn goes_on(&mut self, trees: &mut Trees, pid: u32) -> bool {
        let start = match *self {
            Self::Over => return false,
            Self::Unknown => trees.start_time(pid),
            Self::Since(start) => trees.start_time(pid).filter(|now| *now == start),
        };
        *self = start.map_or(Self::Over, Self::Since);
        start.is_some()
    }
}

impl HostMemory {
    fn used(self) -> u64 {
        self.total.saturating_sub(self.available)
    }
}

impl Sample {
    pub(super) fn report(&self, observer: &mut Observer<'_>) {
        if let Some(host) = self.host {
            observer.report(&metric::HOST_MEMORY_USAGE, host.used(), &[]);
            observer.report(&metric::HOST_MEMORY_AVAILABLE, host.available, &[]);
            observer.report(&metric::HOST_MEMORY_TOTAL, host.total, &[]);
            if let Some(peak) = self.peaks.host_bytes {
                observer.report(&metric::HOST_MEMORY_SAMPLED_PEAK, peak, &[]);
            }
        }
        for server in &self.servers {
            server.report(&self.peaks.servers[server.peaks], observer);
        }
    }
}

impl ServerSample {
    fn report(&self, peaks: &ServerPeaks, observer: &mut Observer<'_>) {
        let identity = [
            (attribute::SERVER_NAME, Value::Str(self.server.name())),
            (
                attribute::SERVER_TYPE,
                Value::Str(self.server.server_type().as_str()),
            ),
            (attribute::PROCESS_PID, Value::I64(self.server.pid().into())),
        ];
        observer.report(&metric::SERVER_PROCESSES, self.tree.processes, &identity);
        let [name, kind, pid] = identity;
        let kinds_of_memory = [
            ("rss", Some(self.tree.rss), peaks.rss_bytes),
            ("pss", self.tree.pss, peaks.pss_bytes),
        ];
        for (kind_of_memory, now, peak) in kinds_of_memory {
            let Some(now) = now else { continue };
            let memory = (attribute::MEMORY_TYPE, Value::Static(kind_of_memory));
            let attributes = [name, kind, pid, memory];
            observer.report(&metric::SERVER_MEMORY_USAGE, now, &attributes);
            if let Some(peak) = peak {
                observer.report(&metric::SERVER_MEMORY_SAMPLED_PEAK, peak, &attributes);
            }
        }
    }
}
