//! What a sample finds: in directories that look like `/proc`, and in the real one.

use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gym_telemetry_core::{ProfiledServer, ServerType};
use opentelemetry::KeyValue;
use opentelemetry_sdk::metrics::Temporality;
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, MetricData, ResourceMetrics, ScopeMetrics,
};

use super::sampler::Sampler;
use super::{MemoryProfiler, PROC, Profiling};
use crate::test_process::{alone, command_for};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
/// A server may take this long to come up, and a sample to show something.
const DEADLINE: Duration = Duration::from_secs(30);

/// A directory like `/proc` of a kernel that tells children.
struct Fake {
    root: tempfile::TempDir,
    page_size: u64,
}

impl Fake {
    fn new() -> Self {
        let fake = Self {
            root: tempfile::tempdir().expect("a temporary directory"),
            page_size: 4 * KIB,
        };
        fake.write("thread-self/children", "");
        fake.write(
            "meminfo",
            "MemTotal:       1000 kB\nMemFree:  1 kB\nMemAvailable:    400 kB\n",
        );
        fake
    }

    fn path(&self, file: &str) -> PathBuf {
        self.root.path().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        let directory = path.parent().expect("it is below the root");
        fs::create_dir_all(directory).expect("a writable directory");
        fs::write(path, text).expect("a writable directory");
    }

    /// A process with that many kB resident, a quarter of which counts as its own, and with these children.
    fn process(&self, pid: u32, parent: u32, kilobytes: u64, children: &str) {
        let pages = kilobytes * KIB / self.page_size;
        self.stat(pid, parent, 'S', u64::from(pid) * 100);
        self.write(
            &format!("{pid}/statm"),
            &format!("{} {pages} 3 4 0 5 0\n", pages * 2),
        );
        self.write(
            &format!("{pid}/smaps_rollup"),
            &format!(
                "55c09dbc4000-7ffe2a65c000 ---p 00000000 00:00 0      [rollup]\nRss:     {kilobytes} kB\nPss:     {} kB\n",
                kilobytes / 4
            ),
        );
        self.write(&format!("{pid}/task/{pid}/children"), children);
    }

    fn stat(&self, pid: u32, parent: u32, state: char, start: u64) {
        self.write(
            &format!("{pid}/stat"),
            &format!(
                "{pid} (my (odd) name) {state} {parent} 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {start} 9 9\n"
            ),
        );
    }

    fn remove(&self, file: &str) {
        let path = self.path(file);
        if path.is_dir() {
            fs::remove_dir_all(path).expect("it is there");
        } else {
            fs::remove_file(path).expect("it is there");
        }
    }

    fn sampler(&self, pids: &[u32]) -> Sampler {
        let servers = pids.iter().map(|pid| server(&format!("server{pid}"), *pid));
        Sampler::new(self.root.path(), self.page_size, servers)
    }
}

fn server(name: &str, pid: u32) -> ProfiledServer {
    ProfiledServer::new(name, ServerType::ResponsesApiModels, pid)
}

/// A point: the metric without `gym.`, then its attributes' values in the order of their keys, and its value.
type Points = Vec<(String, u64)>;

/// What the next sample reports, sorted.
fn sampled(sampler: &mut Sampler) -> Points {
    let sample = sampler.sample(false);
    let metrics = crate::metrics::observed(|observer| sample.report(observer));
    points(&metrics)
}

fn points(metrics: &ResourceMetrics) -> Points {
    let mut points = Vec::new();
    for metric in metrics.scope_metrics().flat_map(ScopeMetrics::metrics) {
        if let AggregatedMetrics::I64(MetricData::Gauge(gauge)) = metric.data()
            && let Some(name) = metric.name().strip_prefix("gym.")
        {
            points.extend(gauge.data_points().map(|point| {
                let mut attributes: Vec<&KeyValue> = point.attributes().collect();
                attributes.sort_by_key(|attribute| attribute.key.as_str().to_owned());
                let values = attributes
                    .iter()
                    .map(|attribute| attribute.value.to_string());
                let label: Vec<_> = std::iter::once(name.to_owned()).chain(values).collect();
                let value = u64::try_from(point.value()).expect("nothing is below zero");
                (label.join(" "), value)
            }));
        }
    }
    points.sort();
    points
}

fn point(points: &Points, label: &str) -> Option<u64> {
    let found = points.iter().find(|(known, _)| known == label);
    found.map(|(_, value)| *value)
}

#[test]
fn a_server_is_its_whole_tree_and_the_host_what_is_not_available() {
    let fake = Fake::new();
    fake.process(10, 1, 400, "11 12 ");
    fake.process(11, 10, 80, "13");
    fake.process(12, 10, 8, "");
    fake.process(13, 11, 4, "");
    fake.process(99, 1, 4000, "");
    // A thread that is not the first may have children, too.
    fake.write("12/task/120/children", "14 ");
    fake.process(14, 12, 40, "");
    let expected = [
        ("host.memory.available", 400 * KIB),
        ("host.memory.sampled_peak", 600 * KIB),
        ("host.memory.total", 1000 * KIB),
        ("host.memory.usage", 600 * KIB),
        (
            "server.memory.sampled_peak pss server10 responses_api_models 10",
            133 * KIB,
        ),
        (
            "server.memory.sampled_peak rss server10 responses_api_models 10",
            532 * KIB,
        ),
        (
            "server.memory.usage pss server10 responses_api_models 10",
            133 * KIB,
        ),
        (
            "server.memory.usage rss server10 responses_api_models 10",
            532 * KIB,
        ),
        ("server.processes server10 responses_api_models 10", 5),
    ];
    assert_eq!(
        sampled(&mut fake.sampler(&[10])),
        expected.map(|(label, value)| (label.to_owned(), value))
    );
}

const USED_RSS: &str = "server.memory.usage rss server10 responses_api_models 10";
const USED_PSS: &str = "server.memory.usage pss server10 responses_api_models 10";
const PEAK_RSS: &str = "server.memory.sampled_peak rss server10 responses_api_models 10";
const PEAK_PSS: &str = "server.memory.sampled_peak pss server10 responses_api_models 10";
const COUNT: &str = "server.processes server10 responses_api_models 10";

#[test]
fn one_process_that_hides_its_pages_leaves_the_tree_without_shared_parts() {
    let mut fake = Fake::new();
    fake.page_size = 64 * KIB;
    fake.process(10, 1, 640, "11");
    fake.process(11, 10, 128, "");
    let mut sampler = fake.sampler(&[10]);
    assert_eq!(point(&sampled(&mut sampler), USED_PSS), Some(192 * KIB));

    fake.process(11, 10, 1280, "");
    fake.remove("11/smaps_rollup");
    let points = sampled(&mut sampler);
    assert_eq!(
        point(&points, USED_RSS),
        Some(1920 * KIB),
        "pages of 64 KiB"
    );
    assert_eq!(point(&points, USED_PSS), None);
    assert_eq!(point(&points, PEAK_PSS), None);
    assert_eq!(point(&points, COUNT), Some(2));
}

#[test]
fn what_ended_contributes_nothing_and_costs_nobody_else_anything() {
    let fake = Fake::new();
    // 11 is gone, 12 has not been asked how it ended, 13 ends while it is looked at.
    fake.process(10, 1, 400, "11 12 13 14 x 99999999999");
    fake.process(12, 10, 0, "");
    fake.remove("12/smaps_rollup");
    fake.process(13, 10, 40, "");
    fake.remove("13/statm");
    fake.process(14, 10, 40, "");
    let points = sampled(&mut fake.sampler(&[10]));
    assert_eq!(point(&points, USED_RSS), Some(440 * KIB));
    assert_eq!(point(&points, USED_PSS), Some(110 * KIB));
    assert_eq!(point(&points, COUNT), Some(2));
}

#[test]
fn a_small_process_of_which_no_page_is_told_lives_all_the_same() {
    let fake = Fake::new();
    fake.process(10, 1, 400, "11");
    fake.process(11, 10, 40, "");
    fake.write("11/statm", "200 0 3 4 0 5 0\n");
    let mut sampler = fake.sampler(&[10]);
    let points = sampled(&mut sampler);
    assert_eq!(point(&points, COUNT), Some(2));
    assert_eq!(point(&points, USED_RSS), Some(440 * KIB));

    // What is not told does not change.
    fake.write("11/smaps_rollup", "Rss: 48 kB\nPss: 20 kB\n");
    let points = sampled(&mut sampler);
    assert_eq!(point(&points, USED_RSS), Some(448 * KIB));
    assert_eq!(point(&points, USED_PSS), Some(120 * KIB));

    fake.remove("11/smaps_rollup");
    let points = sampled(&mut sampler);
    assert_eq!(point(&points, COUNT), Some(2), "it hides its pages");
    assert_eq!(point(&points, USED_PSS), None);

    fake.stat(11, 10, 'Z', 1100);
    let points = sampled(&mut sampler);
    assert_eq!(point(&points, COUNT), Some(1), "it has ended");
    assert_eq!(point(&points, USED_PSS), Some(100 * KIB));
}

#[test]
fn a_process_is_counted_once_however_often_it_is_met() {
    let fake = Fake::new();
    fake.process(10, 1, 400, "11 12");
    fake.process(11, 10, 40, "12");
    fake.process(12, 10, 40, "10");
    let points = sampled(&mut fake.sampler(&[10]));
    assert_eq!(point(&points, COUNT), Some(3));
    assert_eq!(point(&points, USED_RSS), Some(480 * KIB));
}

#[test]
fn peaks_outlive_what_they_were_made_of_and_restarts_under_one_name() {
    let fake = Fake::new();
    fake.process(10, 1, 400, "11");
    fake.process(11, 10, 800, "");
    let mut sampler = fake.sampler(&[10]);
    sampled(&mut sampler);
    fake.write("10/task/10/children", "");
    fake.remove("11");
    fake.write(
        "meminfo",
        "MemTotal:       1000 kB\nMemAvailable:    900 kB\n",
    );
    let points = sampled(&mut sampler);
    assert_eq!(point(&points, USED_RSS), Some(400 * KIB));
    assert_eq!(point(&points, PEAK_RSS), Some(1200 * KIB));
    assert_eq!(point(&points, PEAK_PSS), Some(300 * KIB));
    assert_eq!(point(&points, "host.memory.usage"), Some(100 * KIB));
    assert_eq!(point(&points, "host.memory.sampled_peak"), Some(600 * KIB));

    fake.process(20, 1, 600, "");
    let servers = [server("one", 10), server("one", 20)];
    let mut sampler = Sampler::new(fake.root.path(), 4096, servers);
    let peaks = sampler.sample(false).peaks;
    assert_eq!(peaks.servers.len(), 1);
    assert_eq!(peaks.servers[0].rss_bytes, Some(600 * KIB));
    assert_eq!(peaks.host_bytes, Some(100 * KIB));
}

#[test]
fn a_server_that_ended_is_gone_for_good_whoever_gets_its_id() {
    let fake = Fake::new();
    fake.process(10, 1, 400, "");
    fake.process(20, 1, 400, "");
    fake.process(30, 1, 400, "");
    let mut sampler = fake.sampler(&[10, 20, 30]);
    let count = |points: &Points| {
        points
            .iter()
            .filter(|(label, _)| label.contains("processes"))
            .count()
    };
    assert_eq!(count(&sampled(&mut sampler)), 3);

    // A stranger has the id of the first, and nobody has asked how the second has ended.
    fake.stat(10, 1, 'S', 7777);
    fake.stat(20, 1, 'Z', 2000);
    let points = sampled(&mut sampler);
    assert_eq!(point(&points, USED_RSS), None);
    assert_eq!(point(&points, PEAK_RSS), None);
    assert_eq!(count(&points), 1);

    fake.stat(10, 1, 'S', 1000);
    fake.remove("30");
    assert_eq!(
        count(&sampled(&mut sampler)),
        0,
        "not even if it looks the same again"
    );
    let peaks = sampler.sample(false).peaks;
    assert_eq!(
        peaks.servers[0].rss_bytes,
        Some(400 * KIB),
        "it had its peak"
    );
}

#[test]
fn a_kernel_that_tells_no_children_tells_parents() {
    let fake = Fake::new();
    fake.remove("thread-self/children");
    fake.process(10, 1, 400, "");
    fake.process(11, 10, 40, "");
    fake.process(12, 11, 40, "");
    fake.process(99, 1, 40, "");
    let mut sampler = fake.sampler(&[10]);
    assert_eq!(point(&sampled(&mut sampler), COUNT), Some(3));
    fake.remove("12");
    assert_eq!(point(&sampled(&mut sampler), COUNT), Some(2));
}

#[test]
fn pages_are_gone_over_when_their_number_changes_and_now_and_then() {
    let fake = Fake::new();
    fake.process(10, 1, 400, "");
    let mut sampler = fake.sampler(&[10]);
    sampled(&mut sampler);
    let rollup = |pss: u64| format!("Rss: 400 kB\nPss: {pss} kB\n");
    fake.write("10/smaps_rollup", &rollup(50));
    let mut rounds = 1;
    while point(&sampled(&mut sampler), USED_PSS) != Some(50 * KIB) {
        rounds += 1;
        assert!(rounds <= 10, "a change of the others' is never seen");
    }
    assert_eq!(point(&sampled(&mut sampler), USED_PSS), Some(50 * KIB));
    fake.process(10, 1, 440, "");
    assert_eq!(point(&sampled(&mut sampler), USED_PSS), Some(110 * KIB));
}

#[test]
fn pages_are_gone_over_when_one_that_may_share_them_comes_or_goes() {
    let fake = Fake::new();
    fake.process(10, 1, 400, "11 12");
    fake.process(11, 10, 40, "");
    fake.process(12, 10, 40, "");
    let mut sampler = fake.sampler(&[10]);
    sampled(&mut sampler);
    let survivor =
        |pss: u64| fake.write("10/smaps_rollup", &format!("Rss: 400 kB\nPss: {pss} kB\n"));

    survivor(200);
    fake.remove("11");
    assert_eq!(point(&sampled(&mut sampler), USED_PSS), Some(210 * KIB));
    // Nobody has asked how it ended, so that it is listed still.
    survivor(300);
    fake.write("12/statm", "0 0 0 0 0 0 0\n");
    assert_eq!(point(&sampled(&mut sampler), USED_PSS), Some(300 * KIB));
    survivor(100);
    fake.process(11, 10, 40, "");
    assert_eq!(point(&sampled(&mut sampler), USED_PSS), Some(110 * KIB));
    survivor(90);
    assert_eq!(
        point(&sampled(&mut sampler), USED_PSS),
        Some(110 * KIB),
        "nothing has changed"
    );
}

#[test]
fn a_machine_that_does_not_say_what_is_available_has_no_host_series() {
    let fake = Fake::new();
    fake.write("meminfo", "MemTotal:       1000 kB\nMemFree:  1 kB\n");
    fake.process(10, 1, 400, "");
    let points = sampled(&mut fake.sampler(&[10]));
    assert!(
        points.iter().all(|(label, _)| !label.starts_with("host")),
        "{points:?}"
    );
    assert_eq!(points.len(), 5);
}

/// Starts a shell that starts a shell that starts what holds 256 MiB, and returns both ends of the family.
fn family(memory_hog: &Command) -> (std::process::Child, u32) {
    let program = memory_hog.get_program().to_owned();
    let script = "sh -c '\"$0\" \"$@\" & wait' \"$0\" \"$@\" & echo up; wait";
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .arg(program)
        .args(memory_hog.get_args());
    for (name, value) in memory_hog.get_envs() {
        command.env(name, value.expect("nothing is removed"));
    }
    let mut shell = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell starts");
    let output = BufReader::new(shell.stdout.take().expect("it is piped"));
    let grandchild = output
        .lines()
        .map_while(Result::ok)
        .find_map(|line| line.split_once("holds memory as ")?.1.parse().ok())
        .expect("the grandchild comes up");
    (shell, grandchild)
}

#[test]
fn what_a_grandchild_holds_is_its_servers_until_it_is_killed() {
    let hog = command_for(|| {
        let memory = vec![1_u8; usize::try_from(256 * MIB).expect("it fits")];
        writeln!(std::io::stdout(), "holds memory as {}", std::process::id()).expect("a pipe");
        std::thread::sleep(DEADLINE);
        drop(std::hint::black_box(memory));
    });
    let (mut shell, grandchild) = family(&hog);
    let page_size = rustix::param::page_size() as u64;
    let mut sampler = Sampler::new(Path::new(PROC), page_size, [server("shell", shell.id())]);
    let label = |what: &str| format!("server.{what} shell responses_api_models {}", shell.id());
    let before = sampled(&mut sampler);
    assert_eq!(point(&before, &label("processes")), Some(3));
    let rss = point(&before, &label("memory.usage rss")).expect("there is a sample");
    let pss = point(&before, &label("memory.usage pss")).expect("its pages can be read");
    assert!((256 * MIB..512 * MIB).contains(&rss), "{rss}");
    assert!((256 * MIB..=rss).contains(&pss), "{pss} of {rss}");

    let killed = Command::new("sh")
        .args(["-c", &format!("kill -9 {grandchild}")])
        .status();
    assert!(killed.expect("a shell starts").success());
    let deadline = Instant::now() + DEADLINE;
    loop {
        let after = sampled(&mut sampler);
        // With nothing left to wait for, the shells end as well.
        let rss = point(&after, &label("memory.usage rss"));
        if rss.is_none_or(|rss| rss < 100 * MIB) {
            break;
        }
        assert!(Instant::now() < deadline, "{after:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = shell.kill();
    let _ = shell.wait();
}

/// What a collector would get now.
fn collected() -> Points {
    points(&crate::metrics::collect_installed())
}

/// A sample at the start and one at the end.
const ONCE: Profiling = Profiling {
    interval: Duration::MAX,
    export_interval: Duration::MAX,
};

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_profiler_samples_at_its_interval_and_once_more_at_the_end() {
    alone(&[], || {
        crate::metrics::install(Temporality::Cumulative);
        let fake = Fake::new();
        fake.process(10, 1, 400, "");
        let settled = Profiling {
            interval: Duration::from_millis(20),
            export_interval: Duration::ZERO,
        };
        let profiler = MemoryProfiler::start_with(fake.sampler(&[10]), settled);
        let profiler = profiler.expect("a thread can be had");
        wait_until("a first sample", || {
            point(&collected(), USED_RSS) == Some(400 * KIB)
        });
        fake.process(10, 1, 800, "");
        wait_until("a second sample", || {
            point(&collected(), USED_RSS) == Some(800 * KIB)
        });
        let peaks = profiler.stop();
        assert_eq!(peaks.servers[0].rss_bytes, Some(800 * KIB));
        assert_eq!(profiler.stop(), peaks);
        drop(profiler);
        // The last one is exported once, and is then over.
        assert_eq!(point(&collected(), USED_RSS), Some(800 * KIB));
        assert_eq!(collected(), []);
    });
}

#[test]
fn a_profiler_that_waits_for_long_stops_at_once_with_a_last_sample() {
    alone(&[], || {
        crate::metrics::install(Temporality::Cumulative);
        let fake = Fake::new();
        fake.process(10, 1, 400, "");
        let profiler = MemoryProfiler::start_with(fake.sampler(&[10]), ONCE);
        let profiler = profiler.expect("a thread can be had");
        wait_until("a first sample", || point(&collected(), USED_RSS).is_some());
        fake.process(10, 1, 800, "");
        assert_eq!(profiler.stop().servers[0].rss_bytes, Some(800 * KIB));
        for _ in 0..3 {
            assert_eq!(point(&collected(), USED_RSS), Some(800 * KIB));
        }
    });
}

#[test]
fn the_last_sample_goes_over_pages_that_seem_unchanged() {
    alone(&[], || {
        crate::metrics::install(Temporality::Cumulative);
        let fake = Fake::new();
        fake.process(10, 1, 400, "");
        let profiler = MemoryProfiler::start_with(fake.sampler(&[10]), ONCE);
        let profiler = profiler.expect("a thread can be had");
        wait_until("a first sample", || point(&collected(), USED_RSS).is_some());
        fake.write("10/smaps_rollup", "Rss: 400 kB\nPss: 399 kB\n");
        assert_eq!(profiler.stop().servers[0].pss_bytes, Some(399 * KIB));
    });
}

#[test]
fn there_is_one_profiler_at_a_time() {
    alone(&[], || {
        crate::metrics::install(Temporality::Cumulative);
        let fake = Fake::new();
        fake.process(10, 1, 400, "");
        let start = || MemoryProfiler::start_with(fake.sampler(&[10]), ONCE);
        let first = start().expect("a thread can be had");
        assert!(start().is_none());
        assert!(start().is_none(), "nor does a refusal make room");
        assert_eq!(first.stop().servers[0].rss_bytes, Some(400 * KIB));
        let second = start().expect("the first has stopped");
        drop(first);
        assert!(start().is_none(), "stopping again stops nobody else's");
        drop(second);
        assert!(start().is_some());
    });
}

fn has_sampling_thread() -> bool {
    let tasks = fs::read_dir("/proc/self/task").expect("this is Linux");
    tasks.flatten().any(|task| {
        fs::read_to_string(task.path().join("comm"))
            .is_ok_and(|name| name.trim_end() == "nemo-gym-memory")
    })
}

#[test]
fn sampling_ends_with_telemetry() {
    let interval = ("NEMO_GYM_OTEL_MEMORY_PROFILING_INTERVAL_SECONDS", "0.01");
    let console = ("NEMO_GYM_OTEL_EXPORTER", "console");
    alone(&[ON, PROFILING, interval, console], || {
        let identity = gym_telemetry_core::ServerIdentity::default();
        let _telemetry = crate::init_telemetry(identity).expect("it is on");
        let own = server("own", std::process::id());
        let profiler = MemoryProfiler::start([own]).expect("it is on");
        wait_until("a sampling thread", has_sampling_thread);
        let _receipt = crate::shutdown_telemetry(DEADLINE);
        wait_until("the end of the sampling thread", || !has_sampling_thread());
        assert!(profiler.stop().servers[0].rss_bytes.is_some());
    });
}

#[test]
fn the_thread_has_the_name_that_linux_has_room_for() {
    alone(&[], || {
        let fake = Fake::new();
        let _profiler = MemoryProfiler::start_with(fake.sampler(&[]), ONCE);
        wait_until("a thread of that name", has_sampling_thread);
    });
}

const ON: (&str, &str) = ("NEMO_GYM_OTEL_ENABLED", "1");
const PROFILING: (&str, &str) = ("NEMO_GYM_OTEL_MEMORY_PROFILING_ENABLED", "1");

fn starts() -> bool {
    let telemetry = crate::init_telemetry(gym_telemetry_core::ServerIdentity::default());
    let started = MemoryProfiler::start([server("own", std::process::id())]);
    assert!(telemetry.is_some() || started.is_none());
    started.is_some()
}

#[test]
fn a_profiler_starts_where_the_settings_want_samples() {
    alone(&[ON, PROFILING], || assert!(starts()));
}

#[test]
fn nothing_is_sampled_unless_the_settings_want_it() {
    alone(&[ON], || assert!(!starts()));
}

#[test]
fn nothing_is_sampled_where_metrics_are_not_exported() {
    let metrics_off = ("NEMO_GYM_OTEL_METRICS_ENABLED", "0");
    alone(&[ON, PROFILING, metrics_off], || assert!(!starts()));
}

#[test]
fn nothing_is_sampled_without_telemetry() {
    alone(&[PROFILING], || assert!(!starts()));
}
