//! The process as the kernel sees it.

use std::fs;
use std::path::Path;

use gym_telemetry_core::{Value, attribute, metric};

use crate::memory::{PROC, Proc};
use crate::metrics::Observer;

/// What the kernel calls the process that asks.
const THIS: &str = "self";

/// Reports what the process uses. Nothing on a system without `/proc`.
pub(super) fn report(observer: &mut Observer<'_>) {
    report_from(Path::new(PROC), observer);
}

fn report_from(root: &Path, observer: &mut Observer<'_>) {
    let mut proc = Proc::at(root);
    if let Some(stat) = proc.stat(THIS) {
        let ticks_per_second = rustix::param::clock_ticks_per_second();
        for (mode, ticks) in [("user", stat.user_ticks), ("system", stat.system_ticks)] {
            #[expect(
                clippy::cast_precision_loss,
                reason = "centuries of CPU time are exact to the tick"
            )]
            let seconds = ticks as f64 / ticks_per_second as f64;
            let mode = (attribute::CPU_MODE, Value::Static(mode));
            observer.report(&metric::PROCESS_CPU_TIME, seconds, &[mode]);
        }
        observer.report(&metric::PROCESS_THREAD_COUNT, stat.threads, &[]);
    }
    if let Some(pages) = proc.pages(THIS) {
        let bytes = pages.resident * rustix::param::page_size() as u64;
        observer.report(&metric::PROCESS_MEMORY_USAGE, bytes, &[]);
    }
    if let Some(count) = open_descriptors(&root.join(THIS).join("fd")) {
        observer.report(&metric::PROCESS_OPEN_FILE_DESCRIPTOR_COUNT, count, &[]);
    }
}

/// Counts the entries of the directory of descriptors; of itself, if that has to be listed, it has one too many.
fn open_descriptors(directory: &Path) -> Option<u64> {
    // Linux 6.2 and later tell the number without a list.
    let told = fs::metadata(directory).ok()?.len();
    if told > 0 {
        return Some(told);
    }
    let listed = fs::read_dir(directory).ok()?.count() as u64;
    listed.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{observed, single_values};

    #[test]
    fn the_process_has_a_thread_memory_descriptors_and_used_some_time() {
        let begun = std::time::Instant::now();
        // The clock of the kernel ticks a hundred times a second.
        while begun.elapsed() < std::time::Duration::from_millis(100) {
            std::hint::black_box(0);
        }
        let held: Vec<_> = (0..50)
            .map(|_| fs::File::open("/dev/null").expect("it is there"))
            .collect();
        let values = single_values(&observed(report));
        let value = |name: &str| {
            let found = values.iter().find(|(known, _)| known == name);
            found.unwrap_or_else(|| panic!("{name} in {values:?}")).1
        };
        assert!(value("process.cpu.time user") + value("process.cpu.time system") > 0.0);
        assert!(value("process.memory.usage") > 1e6);
        assert!(
            value("process.thread.count") >= 2.0,
            "this one and the harness's"
        );
        let open = value("process.open_file_descriptor.count");
        assert!(open >= 53.0, "{open}");
        drop(held);
    }
}
