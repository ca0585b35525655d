//! Reading a sandbox that is a process group of this machine.

mod files;
mod group;
mod place;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use gym_resources::{Cores, Mebibytes, SandboxResourceAmounts};

use self::files::Files;
use self::place::Place;
use crate::allocation::{Allocation, Component, Designator, DesignatorKind};
use crate::reader::{Reading, ResourceReader};
use crate::sample::Sample;
use crate::unavailable::Unavailable;

/// Over a shorter time the kernel's clock is too coarse for a share of it.
const SHORTEST_WINDOW: Duration = Duration::from_millis(50);

/// Reads a process group of this machine.
///
/// | `resource.source` | when | used memory | limits |
/// |---|---|---|---|
/// | `local.cgroup2` | the group has a control group of its own, version 2 | `memory.current` without inactive file pages | `memory.max`, `cpu.max` |
/// | `local.cgroup1` | the same, version 1 | `memory.usage_in_bytes` without inactive file pages | `memory.limit_in_bytes`, `cpu.cfs_quota_us` |
/// | `local.proc` | the group shares the control group of this process | the sum of what is resident, shared pages once for each process | none: the allocation is unavailable |
///
/// Of the limits of a control group and of those above it, the lowest counts. The busy share of the CPUs is that since
/// the reading before, of the CPUs that the limit allows, or of all of the machine; it is absent from a reading
/// without one before. Total memory is the limit or the machine's,
/// whichever is less.
///
/// A reading in version 2 or 1 opens a handful of files, one from `/proc` a file for each process of the machine.
/// Nothing is opened before the first reading.
#[derive(Debug)]
pub struct LocalReader {
    sandbox_id: String,
    group: u32,
    root: PathBuf,
    place: OnceLock<Place>,
    /// The CPU time used until a moment.
    before: Mutex<Option<(Instant, Duration)>>,
}

impl LocalReader {
    /// Reads the process group `group`, which is the id of the process that leads it.
    #[must_use]
    pub fn new(sandbox_id: impl Into<String>, group: u32) -> Self {
        Self {
            sandbox_id: sandbox_id.into(),
            group,
            root: PathBuf::from("/"),
            place: OnceLock::new(),
            before: Mutex::new(None),
        }
    }

    /// Looks for `proc` and `sys` below another directory than the root: where a container mounts the host's, or a
    /// test keeps recorded ones.
    #[must_use]
    pub fn with_root(mut self, root: impl AsRef<Path>) -> Self {
        root.as_ref().clone_into(&mut self.root);
        self
    }

    fn files(&self) -> Files<'_> {
        Files::below(&self.root)
    }

    fn place(&self) -> &Place {
        self.place
            .get_or_init(|| Place::of_group(self.files(), self.group))
    }

    fn read_allocation(&self) -> Result<Allocation, Unavailable> {
        let files = self.files();
        // What follows is measured from now on.
        if let Ok(used) = self.place().cpu_time(files, self.group) {
            self.since_last(used);
        }
        let limits = SandboxResourceAmounts {
            cpu: self.place().cpu_limit()?,
            memory_mib: self.place().memory_limit()?,
            ..SandboxResourceAmounts::default()
        };
        if limits.is_empty() {
            return Err(Unavailable::NoSupportedResources);
        }
        Ok(Allocation {
            components: vec![Component {
                name: String::from("sandbox"),
                requests: SandboxResourceAmounts::default(),
                limits,
            }],
            designator: files.host_name().map(|scope| Designator {
                kind: DesignatorKind::ProviderSandbox,
                scope,
                id: self.sandbox_id.clone(),
            }),
            host: None,
        })
    }

    fn read_sample(&self) -> Result<Sample, Unavailable> {
        let (files, place) = (self.files(), self.place());
        let timestamp = UNIX_EPOCH.elapsed().unwrap_or_default().as_millis();
        let (memory_used, time_used) = place.usage(files, self.group)?;
        let busy = time_used.and_then(|used| self.since_last(used));
        let cpus = match place.cpu_limit()? {
            Some(limit) => Some(limit.get()),
            None => files.cpus(),
        };
        // A limit above what the machine has is never met.
        let memory_total = lower(place.memory_limit()?, files.memory_total());
        let share = |(window, used): (Duration, Duration)| {
            cpus.filter(|cpus| *cpus > 0.0)
                .map(|cpus| used.as_secs_f64() / window.as_secs_f64() / cpus * 100.0)
        };
        Ok(Sample {
            timestamp_ms: i64::try_from(timestamp).ok(),
            cpu_count: cpus,
            cpu_used_percentage: busy.and_then(share),
            memory_total_mib: memory_total.map(Mebibytes::get),
            memory_used_mib: Some(memory_used.get()),
        })
    }

    /// How long ago the reading before was, and how much CPU time was used since; `None` without one, after too
    /// short a time, and when processes have taken their time along.
    fn since_last(&self, used: Duration) -> Option<(Duration, Duration)> {
        let now = Instant::now();
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        if before.is_some_and(|(at, _)| now.duration_since(at) < SHORTEST_WINDOW) {
            return None;
        }
        let (at, earlier) = before.replace((now, used))?;
        Some((now.duration_since(at), used.checked_sub(earlier)?))
    }
}

impl ResourceReader for LocalReader {
    fn allocation_source(&self) -> &'static str {
        self.place().source()
    }

    fn sample_source(&self) -> &'static str {
        self.place().source()
    }

    fn allocation(&self) -> Reading<'_, Allocation> {
        Box::pin(async { self.read_allocation() })
    }

    fn sample(&self) -> Reading<'_, Sample> {
        Box::pin(async { self.read_sample() })
    }
}

/// The lower of two limits that may not be set.
fn lower<T: PartialOrd>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other < one { other } else { one }),
        (one, other) => one.or(other),
    }
}

type MemoryLimit = Result<Option<Mebibytes>, Unavailable>;
type CpuLimit = Result<Option<Cores>, Unavailable>;
