//! Process groups read from recorded trees of the kernel's files, and one from this machine.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::pin::Pin;
use std::process::{Child, Command};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use gym_resources::{Cores, Mebibytes};
use gym_sandbox_obs::{
    Allocation, DesignatorKind, LocalReader, ResourceReader, Sample, Unavailable,
};
use tempfile::TempDir;

/// Reading files is over with the first poll.
fn now<T>(mut future: Pin<Box<dyn Future<Output = T> + Send + '_>>) -> T {
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing here waits"),
    }
}

/// What every machine has: two processors, 4 GiB, a name.
const MACHINE: [(&str, &str); 4] = [
    (
        "proc/stat",
        "cpu  10 0 10 0 0 0 0 0 0 0\ncpu0 5 0 5 0 0 0 0 0 0 0\ncpu1 5 0 5 0 0 0 0 0 0 0\nintr 1\n",
    ),
    (
        "proc/meminfo",
        "MemTotal:        4194304 kB\nMemFree:         1048576 kB\n",
    ),
    ("proc/sys/kernel/hostname", "rack-7\n"),
    ("proc/uptime", "1.0 2.0\n"),
];

fn tree(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (path, text) in MACHINE.iter().chain(files) {
        write(directory.path(), path, text);
    }
    directory
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("writable");
    fs::write(path, text).expect("writable");
}

fn reader(root: &TempDir) -> LocalReader {
    LocalReader::new("sb-1", 42).with_root(root.path())
}

fn limits(allocation: &Allocation) -> (Option<f64>, Option<f64>) {
    assert_eq!(allocation.components.len(), 1);
    let component = &allocation.components[0];
    assert!(
        component.requests.is_empty(),
        "a control group requests nothing"
    );
    let limits = &component.limits;
    (
        limits.cpu.map(Cores::get),
        limits.memory_mib.map(Mebibytes::get),
    )
}

const SECOND: [(&str, &str); 8] = [
    ("proc/self/cgroup", "0::/user.slice/gym.scope\n"),
    ("proc/42/cgroup", "0::/user.slice/sb-1\n"),
    (
        "sys/fs/cgroup/user.slice/sb-1/memory.current",
        "209715200\n",
    ),
    ("sys/fs/cgroup/user.slice/sb-1/memory.max", "max\n"),
    (
        "sys/fs/cgroup/user.slice/sb-1/memory.stat",
        "anon 104857600\nfile 104857600\ninactive_file 52428800\n",
    ),
    ("sys/fs/cgroup/user.slice/sb-1/cpu.max", "150000 100000\n"),
    (
        "sys/fs/cgroup/user.slice/sb-1/cpu.stat",
        "usage_usec 1000000\nuser_usec 900000\nsystem_usec 100000\n",
    ),
    ("sys/fs/cgroup/user.slice/memory.max", "1073741824\n"),
];

#[test]
fn a_control_group_of_version_2_has_limits_and_usage() {
    let root = tree(&SECOND);
    let reader = reader(&root);
    let allocation = now(reader.allocation()).expect("there are limits");
    assert_eq!(reader.allocation_source(), "local.cgroup2");
    assert_eq!(
        limits(&allocation),
        (Some(1.5), Some(1024.0)),
        "the lower limit above counts"
    );
    let designator = allocation.designator.expect("the machine has a name");
    assert_eq!(designator.kind, DesignatorKind::ProviderSandbox);
    assert_eq!(
        (designator.scope.as_str(), designator.id.as_str()),
        ("rack-7", "sb-1")
    );
    assert_eq!(allocation.host, None);

    let sample = now(reader.sample()).expect("the group is there");
    assert_eq!(sample.cpu_count, Some(1.5));
    assert_eq!(sample.memory_total_mib, Some(1024.0));
    assert_eq!(
        sample.memory_used_mib,
        Some(150.0),
        "inactive file pages are free to take"
    );
    assert_eq!(
        sample.cpu_used_percentage, None,
        "too short a time for a share"
    );
    assert!(sample.timestamp_ms.is_some_and(|time| time > 0));
}

#[test]
fn the_busy_share_is_of_the_time_since_the_reading_before() {
    let root = tree(&SECOND);
    let reader = reader(&root);
    let started = Instant::now();
    assert!(now(reader.allocation()).is_ok());
    // 150 ms of CPU time on 1.5 CPUs.
    let file = "sys/fs/cgroup/user.slice/sb-1/cpu.stat";
    write(root.path(), file, "usage_usec 1150000\n");
    let share = loop {
        let sample = now(reader.sample()).expect("the group is there");
        if let Some(share) = sample.cpu_used_percentage {
            break share;
        }
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "no share in time"
        );
        std::thread::yield_now();
    };
    // At least as much time has passed as a share needs, and no more than was waited.
    assert!(share <= 0.1 / 0.05 * 100.0 + 1e-6, "{share}");
    assert!(
        share >= 0.1 / started.elapsed().as_secs_f64() * 100.0 - 1e-6,
        "{share}"
    );
}

#[test]
fn control_groups_of_version_1_are_read_controller_by_controller() {
    let root = tree(&[
        ("proc/self/cgroup", "4:memory:/\n2:cpu,cpuacct:/\n0::/\n"),
        (
            "proc/42/cgroup",
            "4:memory:/boxes/sb-1\n2:cpu,cpuacct:/boxes/sb-1\n0::/\n",
        ),
        (
            "sys/fs/cgroup/memory/memory.limit_in_bytes",
            "9223372036854771712\n",
        ),
        (
            "sys/fs/cgroup/memory/boxes/sb-1/memory.limit_in_bytes",
            "268435456\n",
        ),
        (
            "sys/fs/cgroup/memory/boxes/sb-1/memory.usage_in_bytes",
            "104857600\n",
        ),
        (
            "sys/fs/cgroup/memory/boxes/sb-1/memory.stat",
            "cache 1\ninactive_file 1\ntotal_inactive_file 4194304\n",
        ),
        (
            "sys/fs/cgroup/cpu,cpuacct/boxes/sb-1/cpu.cfs_quota_us",
            "50000\n",
        ),
        (
            "sys/fs/cgroup/cpu,cpuacct/boxes/sb-1/cpu.cfs_period_us",
            "100000\n",
        ),
        (
            "sys/fs/cgroup/cpu,cpuacct/boxes/sb-1/cpuacct.usage",
            "25613727348219\n",
        ),
    ]);
    let reader = reader(&root);
    let allocation = now(reader.allocation()).expect("there are limits");
    assert_eq!(limits(&allocation), (Some(0.5), Some(256.0)));
    let sample = now(reader.sample()).expect("the group is there");
    assert_eq!(reader.sample_source(), "local.cgroup1");
    assert_eq!(sample.memory_used_mib, Some(96.0));
    assert_eq!(
        (sample.cpu_count, sample.memory_total_mib),
        (Some(0.5), Some(256.0))
    );
}

#[test]
fn a_group_without_limits_has_no_allocation_and_no_invented_zero() {
    let mut files = SECOND.to_vec();
    files.extend([
        ("sys/fs/cgroup/user.slice/sb-1/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/user.slice/memory.max", "max\n"),
    ]);
    let root = tree(&files);
    let reader = reader(&root);
    assert_eq!(
        now(reader.allocation()),
        Err(Unavailable::NoSupportedResources)
    );
    let sample = now(reader.sample()).expect("the group is there");
    assert_eq!(sample.memory_total_mib, Some(4096.0), "the machine's");
    assert_eq!(sample.cpu_count, Some(2.0), "the machine's");
}

#[test]
fn a_shared_control_group_is_not_the_sandboxs_own() {
    let mut files = SECOND.to_vec();
    files.extend([
        ("proc/self/cgroup", "0::/user.slice/sb-1\n"),
        (
            "proc/42/stat",
            "42 (sh) S 1 42 42 0 -1 0 0 0 0 0 10 20 30 40 20 0 1 0 1 1 1\n",
        ),
        ("proc/42/status", "Name:\tsh\nVmRSS:\t    2048 kB\n"),
        (
            "proc/43/stat",
            "43 (a) b) R 42 42 42 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 1 1\n",
        ),
        ("proc/43/status", "Name:\ta) b\nVmRSS:\t    1024 kB\n"),
        (
            "proc/44/stat",
            "44 (other) R 1 44 44 0 -1 0 0 0 0 0 9 9 9 9 20 0 1 0 1 1 1\n",
        ),
        ("proc/44/status", "Name:\tother\nVmRSS:\t    9999 kB\n"),
        (
            "proc/45/stat",
            "45 (ended) Z 42 42 42 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0\n",
        ),
        ("proc/45/status", "Name:\tended\nState:\tZ (zombie)\n"),
    ]);
    let root = tree(&files);
    let reader = reader(&root);
    assert_eq!(
        now(reader.allocation()),
        Err(Unavailable::NoSupportedResources)
    );
    let sample = now(reader.sample()).expect("the group is there");
    assert_eq!(reader.sample_source(), "local.proc");
    assert_eq!(
        sample.memory_used_mib,
        Some(3.0),
        "only the group's processes count"
    );
    assert_eq!(sample.cpu_count, Some(2.0));
}

#[test]
fn garbage_and_what_is_gone_are_unavailable() {
    let root = tree(&[]);
    assert_eq!(
        now(reader(&root).sample()),
        Err(Unavailable::Connection),
        "no such group"
    );
    for (file, text, error) in [
        ("memory.current", "many\n", Unavailable::MalformedReading),
        ("memory.max", "-5\n", Unavailable::MalformedQuantity),
        ("cpu.max", "1 0\n", Unavailable::MalformedQuantity),
    ] {
        let root = tree(&SECOND);
        write(
            root.path(),
            &format!("sys/fs/cgroup/user.slice/sb-1/{file}"),
            text,
        );
        assert_eq!(now(reader(&root).sample()), Err(error), "{file}");
    }
    let root = tree(&SECOND);
    let reader = reader(&root);
    assert!(now(reader.sample()).is_ok());
    fs::remove_dir_all(root.path().join("sys")).expect("removable");
    assert_eq!(now(reader.sample()), Err(Unavailable::Connection));
}

#[test]
fn a_control_group_that_holds_this_process_too_is_not_the_sandboxs_own() {
    let mut files = SECOND.to_vec();
    files.extend([
        ("proc/self/cgroup", "0::/user.slice/sb-1/gym.scope\n"),
        (
            "proc/42/stat",
            "42 (sh) S 1 42 42 0 -1 0 0 0 0 0 10 20 30 40 20 0 1 0 1 1 1\n",
        ),
        ("proc/42/status", "Name:\tsh\nVmRSS:\t    2048 kB\n"),
    ]);
    let root = tree(&files);
    let reader = reader(&root);
    assert_eq!(reader.sample_source(), "local.proc");
    let sample = now(reader.sample()).expect("the group is there");
    assert_eq!(sample.memory_used_mib, Some(2.0));
}

#[test]
fn a_limit_above_the_memory_of_the_machine_is_not_its_total() {
    let root = tree(&SECOND);
    let file = "sys/fs/cgroup/user.slice/memory.max";
    write(root.path(), file, "8589934592\n");
    let reader = reader(&root);
    let allocation = now(reader.allocation()).expect("there are limits");
    assert_eq!(limits(&allocation).1, Some(8192.0));
    let sample = now(reader.sample()).expect("the group is there");
    assert_eq!(sample.memory_total_mib, Some(4096.0));
}

struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_real_process_group_is_read_until_it_ends() {
    let mut group = Group(
        Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .process_group(0)
            .spawn()
            .expect("a shell starts"),
    );
    let reader = LocalReader::new("sb-1", group.0.id());
    let deadline = Instant::now() + Duration::from_secs(30);
    let sample: Sample = loop {
        let sample = now(reader.sample()).expect("the group is there");
        if sample.cpu_used_percentage.is_some_and(|share| share > 0.0) {
            break sample;
        }
        assert!(Instant::now() < deadline, "no CPU time in time");
        std::thread::yield_now();
    };
    assert!(sample.memory_used_mib.is_some_and(|used| used > 0.0));
    assert!(sample.memory_total_mib > sample.memory_used_mib);
    assert!(sample.cpu_count.is_some_and(|cpus| cpus >= 1.0));
    group.0.kill().expect("it runs");
    group.0.wait().expect("it is a child");
    assert_eq!(now(reader.sample()), Err(Unavailable::Connection));
}
