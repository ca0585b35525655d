//! Where a process group can be read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gym_resources::{Mebibytes, cpu_limit_v1, cpu_limit_v2, memory_limit};

use super::files::{Files, number, read};
use super::{CpuLimit, MemoryLimit, group, lower};
use crate::unavailable::Unavailable;

/// Where control groups are mounted. Version 2 beside version 1 has a directory of its own.
const MOUNT: &str = "sys/fs/cgroup";
const UNIFIED: &str = "sys/fs/cgroup/unified";

/// Where a process group can be read: in control groups that are its own, or else process by process.
///
/// A control group that this process is in as well says nothing about the sandbox alone.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A directory of version 2, and the directory above which there are no limits.
    Second { directory: PathBuf, mount: PathBuf },
    /// Directories of version 1, one for each controller that the sandbox has a group of its own in.
    First {
        memory: Controller,
        cpu: Option<Controller>,
        cpu_time: Option<Controller>,
    },
    /// No control group of its own.
    Processes,
}

/// A directory of one controller, and where the controller is mounted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Controller {
    directory: PathBuf,
    mount: PathBuf,
}

impl Place {
    pub(super) fn of_group(files: Files<'_>, group: u32) -> Self {
        let Ok(theirs) = files.read(&format!("proc/{group}/cgroup")) else {
            return Self::Processes;
        };
        // Unreadable, there is no telling whose a control group is.
        let Ok(ours) = files.read("proc/self/cgroup") else {
            return Self::Processes;
        };
        let own = |controller: &str| {
            let path = path_of(&theirs, controller)?;
            // One above ours holds us, too.
            let holds_us = |ours: &str| Path::new(ours).starts_with(path);
            (!path_of(&ours, controller).is_some_and(holds_us)).then_some(path)
        };
        let controller = |name: &str| {
            let path = own(name)?;
            mounts(files, name).find_map(|mount| {
                let directory = below(&mount, path);
                directory
                    .is_dir()
                    .then_some(Controller { directory, mount })
            })
        };
        if let Some(memory) = controller("memory") {
            return Self::First {
                memory,
                cpu: controller("cpu"),
                cpu_time: controller("cpuacct"),
            };
        }
        let second = own("").and_then(|path| {
            [MOUNT, UNIFIED].into_iter().find_map(|mount| {
                let mount = files.path(mount);
                let directory = below(&mount, path);
                let is_there = directory.join("memory.current").is_file();
                is_there.then_some(Self::Second { directory, mount })
            })
        });
        second.unwrap_or(Self::Processes)
    }

    /// The value of `resource.source`.
    pub(super) fn source(&self) -> &'static str {
        match self {
            Self::Second { .. } => "local.cgroup2",
            Self::First { .. } => "local.cgroup1",
            Self::Processes => "local.proc",
        }
    }

    pub(super) fn memory_limit(&self) -> MemoryLimit {
        let (directory, mount, file) = match self {
            Self::Second { directory, mount } => (directory, mount, "memory.max"),
            Self::First { memory, .. } => {
                (&memory.directory, &memory.mount, "memory.limit_in_bytes")
            }
            Self::Processes => return Ok(None),
        };
        lowest(directory, mount, |directory| {
            memory_limit(&read(&directory.join(file))?).map_err(|_| Unavailable::MalformedQuantity)
        })
    }

    pub(super) fn cpu_limit(&self) -> CpuLimit {
        match self {
            Self::Second { directory, mount } => lowest(directory, mount, |directory| {
                let text = read(&directory.join("cpu.max"))?;
                cpu_limit_v2(&text).map_err(|_| Unavailable::MalformedQuantity)
            }),
            Self::First { cpu: Some(cpu), .. } => lowest(&cpu.directory, &cpu.mount, |directory| {
                let quota = read(&directory.join("cpu.cfs_quota_us"))?;
                let period = read(&directory.join("cpu.cfs_period_us"))?;
                cpu_limit_v1(&quota, &period).map_err(|_| Unavailable::MalformedQuantity)
            }),
            Self::First { cpu: None, .. } | Self::Processes => Ok(None),
        }
    }

    /// The memory and the CPU time that are used; without the one there is no reading, without the other there is.
    pub(super) fn usage(
        &self,
        files: Files<'_>,
        group: u32,
    ) -> Result<(Mebibytes, Option<Duration>), Unavailable> {
        let (directory, file, inactive) = match self {
            Self::Second { directory, .. } => (directory, "memory.current", "inactive_file"),
            Self::First { memory, .. } => (
                &memory.directory,
                "memory.usage_in_bytes",
                "total_inactive_file",
            ),
            Self::Processes => {
                let (memory, time) = group::usage(files, group)?;
                return Ok((memory, time.ok()));
            }
        };
        let used = whole(&read(&directory.join(file))?)?;
        let statistics = read(&directory.join("memory.stat"))?;
        // File pages that nobody has touched for a while can be had for the asking: they are not in use.
        let inactive = number(&statistics, inactive).unwrap_or(0);
        let memory = Mebibytes::from_bytes(used.saturating_sub(inactive));
        Ok((memory, self.cpu_time(files, group).ok()))
    }

    pub(super) fn cpu_time(&self, files: Files<'_>, group: u32) -> Result<Duration, Unavailable> {
        match self {
            Self::Second { directory, .. } => {
                let statistics = read(&directory.join("cpu.stat"))?;
                number(&statistics, "usage_usec")
                    .map(Duration::from_micros)
                    .ok_or(Unavailable::MalformedReading)
            }
            Self::First {
                cpu_time: Some(controller),
                ..
            } => {
                let nanos = whole(&read(&controller.directory.join("cpuacct.usage"))?)?;
                Ok(Duration::from_nanos(nanos))
            }
            Self::First { cpu_time: None, .. } => Err(Unavailable::NoSupportedResources),
            Self::Processes => group::cpu_time(files, group),
        }
    }
}

/// The path of a controller in the text of `/proc/<pid>/cgroup`; version 2 is the controller without a name.
fn path_of<'a>(text: &'a str, controller: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers
            .split(',')
            .any(|name| name == controller)
            .then_some(path)
    })
}

/// The directories that a controller may be mounted at.
fn mounts(files: Files<'_>, controller: &str) -> impl Iterator<Item = PathBuf> {
    let shared = matches!(controller, "cpu" | "cpuacct")
        .then(|| files.path(&format!("{MOUNT}/cpu,cpuacct")));
    [files.path(&format!("{MOUNT}/{controller}"))]
        .into_iter()
        .chain(shared)
}

fn below(mount: &Path, path: &str) -> PathBuf {
    mount.join(path.trim_start_matches('/'))
}

/// The lowest limit of a control group and those above it. Where a controller is not switched on there is no file,
/// and no limit.
fn lowest<T: PartialOrd>(
    directory: &Path,
    mount: &Path,
    limit: impl Fn(&Path) -> Result<Option<T>, Unavailable>,
) -> Result<Option<T>, Unavailable> {
    let mut lowest = None;
    for directory in directory
        .ancestors()
        .take_while(|directory| directory.starts_with(mount))
    {
        match limit(directory) {
            Ok(limit) => lowest = lower(lowest, limit),
            Err(Unavailable::Connection) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(lowest)
}

fn whole(text: &str) -> Result<u64, Unavailable> {
    text.trim()
        .parse()
        .map_err(|_| Unavailable::MalformedReading)
}
