//! Child processes that never outlive their test, and a look at them through /proc.

use std::fs;
use std::io::Read;
use std::process::{Child, Output};
use std::thread;
use std::time::{Duration, Instant};

/// Kills and reaps the process when the test is over.
pub struct Guard(Option<Child>);

impl Guard {
    pub fn new(child: Child) -> Self {
        Self(Some(child))
    }

    pub fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("only waiting takes the child away")
    }

    pub fn id(&self) -> u32 {
        self.0
            .as_ref()
            .expect("only waiting takes the child away")
            .id()
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(pid.expect("a process id"), signal)
            .expect("the process is there");
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits for the end and collects what the process wrote; a process that hangs fails the test.
pub fn wait_with_deadline(mut guard: Guard, deadline: Duration) -> Output {
    let child = guard.child();
    let stdout = child.stdout.take().map(read_all);
    let stderr = child.stderr.take().map(read_all);
    let status = eventually("the process ends", deadline, || {
        child.try_wait().expect("a child can be waited for")
    });
    let collect = |reader: Option<thread::JoinHandle<Vec<u8>>>| {
        reader.map(|reader| reader.join().expect("no panic"))
    };
    Output {
        status,
        stdout: collect(stdout).unwrap_or_default(),
        stderr: collect(stderr).unwrap_or_default(),
    }
}

fn read_all(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a readable pipe");
        bytes
    })
}

/// Asks again and again until there is an answer; fails after the deadline.
pub fn eventually<T>(what: &str, deadline: Duration, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + deadline;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "not within {deadline:?}: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Ids of the processes whose parent is `parent`.
pub fn children_of(parent: u32) -> Vec<u32> {
    processes()
        .filter(|process| process.parent == parent)
        .map(|process| process.id)
        .collect()
}

/// Processes that have `text` in their environment: those of one run, wherever they hang in the tree of processes.
pub fn with_environment(text: &str) -> Vec<u32> {
    let holds = |id: &u32| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == text.as_bytes())
    };
    processes()
        .map(|process| process.id)
        .filter(holds)
        .collect()
}

struct Process {
    id: u32,
    parent: u32,
}

fn processes() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").expect("a /proc file system");
    entries.filter_map(|entry| {
        let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name in parentheses may hold anything; state and parent come after it.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let parent = fields.nth(1)?.parse().ok()?;
        Some(Process { id, parent })
    })
}
