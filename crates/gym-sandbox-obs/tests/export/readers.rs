//! Readers that do as they are told.

use std::fmt;
use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gym_resources::{Cores, Gibibytes, Mebibytes, SandboxResourceAmounts};
use gym_sandbox_obs::{
    Allocation, Component, Designator, DesignatorKind, Host, HostKind, Reading, ResourceReader,
    Sample, Unavailable,
};

type Answer = Box<dyn Fn(usize) -> Reading<'static, Sample> + Send + Sync>;

/// Answers each reading of a sample by its number.
pub(crate) struct Scripted {
    allocation: Result<Allocation, Unavailable>,
    answer: Answer,
    readings: AtomicUsize,
}

impl Scripted {
    pub(crate) fn new(
        answer: impl Fn(usize) -> Reading<'static, Sample> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            allocation: Ok(allocation()),
            answer: Box::new(answer),
            readings: AtomicUsize::new(0),
        })
    }

    pub(crate) fn without_allocation(error: Unavailable) -> Arc<Self> {
        Arc::new(Self {
            allocation: Err(error),
            answer: Box::new(|_| Box::pin(ready(Ok(sample(1))))),
            readings: AtomicUsize::new(0),
        })
    }

    /// How many readings of samples have begun.
    pub(crate) fn readings(&self) -> usize {
        self.readings.load(Ordering::SeqCst)
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted").finish_non_exhaustive()
    }
}

impl ResourceReader for Scripted {
    fn allocation_source(&self) -> &'static str {
        "test.allocation"
    }

    fn sample_source(&self) -> &'static str {
        "test.sample"
    }

    fn allocation(&self) -> Reading<'_, Allocation> {
        Box::pin(ready(self.allocation.clone()))
    }

    fn sample(&self) -> Reading<'_, Sample> {
        let number = self.readings.fetch_add(1, Ordering::SeqCst);
        (self.answer)(number)
    }
}

pub(crate) fn hang() -> Reading<'static, Sample> {
    Box::pin(pending())
}

/// A sample that tells its number by every value.
pub(crate) fn sample(number: i32) -> Sample {
    Sample {
        timestamp_ms: Some(1_788_257_472_000 + i64::from(number)),
        cpu_count: Some(4.0),
        cpu_used_percentage: Some(f64::from(number) + 0.5),
        memory_total_mib: Some(24_105.562_5),
        memory_used_mib: Some(f64::from(number) * 100.0),
    }
}

fn allocation() -> Allocation {
    let amounts = |cores, mebibytes| SandboxResourceAmounts {
        cpu: Cores::new(cores).ok(),
        memory_mib: Mebibytes::new(mebibytes).ok(),
        ..SandboxResourceAmounts::default()
    };
    let whole = |cores, mebibytes| SandboxResourceAmounts {
        disk_gib: Gibibytes::new(2.5).ok(),
        gpu: Some(1),
        gpu_type: Some("H100".to_owned()),
        ..amounts(cores, mebibytes)
    };
    let scope = || "https://osb.example:8443/api".to_owned();
    Allocation {
        components: vec![
            Component {
                name: "idle".to_owned(),
                ..Component::default()
            },
            Component {
                name: "sandbox".to_owned(),
                requests: SandboxResourceAmounts::default(),
                limits: amounts(1.5, 1.5),
            },
            Component {
                name: "judge".to_owned(),
                requests: whole(1.0, 512.0),
                limits: whole(2.0, 1024.0),
            },
        ],
        designator: Some(Designator {
            kind: DesignatorKind::Kubernetes,
            scope: scope(),
            id: "namespaces/ns/pods/p".to_owned(),
        }),
        host: Some(Host {
            kind: HostKind::KubernetesNode,
            scope: scope(),
            id: "node-1".to_owned(),
        }),
    }
}
