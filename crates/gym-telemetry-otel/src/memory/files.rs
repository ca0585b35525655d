//! The files of the kernel that tell about memory and processes.
//!
//! They are read without a crate for `/proc`: of each process only three numbers are wanted, and reading them has to
//! stay cheap with hundreds of processes. Texts are bytes here, because a program may have any name.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The number of links of a directory without directories in it, of which each adds one.
const NO_DIRECTORIES: u64 = 2;

/// The memory of the machine, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostMemory {
    pub(super) total: u64,
    pub(super) available: u64,
}

/// The memory of a process as the kernel counts it by the way, in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pages {
    /// Those that have an address. Exact, and zero of a process alone that has given its memory back and ends.
    pub(super) size: u64,
    /// Those that are in memory. Some kernels are off by a few dozens for each processor: of a small process that lives
    /// it may be zero.
    pub(crate) resident: u64,
    shared: u64,
}

/// The memory of a process as the kernel counts it by going over all of its pages, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resident {
    pub(super) rss: u64,
    pub(super) pss: u64,
}

/// A directory like `/proc`.
#[derive(Debug)]
pub(crate) struct Proc {
    root: String,
    path: String,
    buffer: Vec<u8>,
    /// Children by parent, where the kernel does not tell the children of a process; of the present round.
    families: Option<HashMap<u32, Vec<u32>>>,
}

impl Proc {
    pub(crate) fn at(root: &Path) -> Self {
        let root = root.to_string_lossy().into_owned();
        let tells_children = Path::new(&root).join("thread-self/children").exists();
        Self {
            root,
            path: String::new(),
            buffer: vec![0; 4096],
            families: (!tells_children).then(HashMap::new),
        }
    }

    /// Begins a round of readings that belong together.
    pub(super) fn begin(&mut self) {
        if self.families.is_none() {
            return;
        }
        let mut families: HashMap<u32, Vec<u32>> = HashMap::new();
        for pid in numbers_in(&self.root) {
            if let Some(parent) = self.stat(pid).map(|stat| stat.parent) {
                families.entry(parent).or_default().push(pid);
            }
        }
        self.families = Some(families);
    }

    /// The memory of the machine; `None` if the kernel does not tell what is available.
    pub(super) fn host_memory(&mut self) -> Option<HostMemory> {
        let text = self.read(format_args!("meminfo")).ok()?;
        Some(HostMemory {
            total: kilobytes(text, b"MemTotal:")?,
            available: kilobytes(text, b"MemAvailable:")?,
        })
    }

    /// When a process started, in a unit that only the kernel knows; `None` if it has ended, reaped or not.
    pub(super) fn start_time(&mut self, pid: u32) -> Option<u64> {
        let stat = self.stat(pid)?;
        (!stat.has_ended).then_some(stat.start_time)
    }

    pub(crate) fn stat(&mut self, pid: impl fmt::Display) -> Option<Stat> {
        Stat::parse(self.read(format_args!("{pid}/stat")).ok()?)
    }

    pub(crate) fn pages(&mut self, pid: impl fmt::Display) -> Option<Pages> {
        let text = self.read(format_args!("{pid}/statm")).ok()?;
        let mut numbers = text.split(|byte| *byte == b' ').map(number);
        Some(Pages {
            size: numbers.next()??,
            resident: numbers.next()??,
            shared: numbers.next()??,
        })
    }

    /// `None` if the process has ended, if the kernel does not count like that, or if it does not tell us.
    pub(super) fn resident(&mut self, pid: u32) -> Option<Resident> {
        let text = self.read(format_args!("{pid}/smaps_rollup")).ok()?;
        Some(Resident {
            rss: kilobytes(text, b"Rss:")?,
            pss: kilobytes(text, b"Pss:")?,
        })
    }

    /// Appends the children of a process. Those that come and go meanwhile may be missing.
    pub(super) fn children(&mut self, pid: u32, children: &mut Vec<u32>) {
        if let Some(families) = &self.families {
            children.extend(families.get(&pid).into_iter().flatten());
            return;
        }
        let tasks = self.path(format_args!("{pid}/task"));
        let Ok(metadata) = fs::metadata(tasks) else {
            return;
        };
        if metadata.nlink() == NO_DIRECTORIES + 1 {
            // The only thread has the id of the process. If it has not by now, the process is about to be another
            // program or to end.
            self.children_of_thread(pid, pid, children);
            return;
        }
        for thread in numbers_in(&self.path) {
            self.children_of_thread(pid, thread, children);
        }
    }

    fn children_of_thread(&mut self, pid: u32, thread: u32, children: &mut Vec<u32>) {
        if let Ok(text) = self.read(format_args!("{pid}/task/{thread}/children")) {
            let ids = text.split(u8::is_ascii_whitespace).filter_map(number);
            children.extend(ids.filter_map(|id| u32::try_from(id).ok()));
        }
    }

    fn path(&mut self, file: fmt::Arguments<'_>) -> &str {
        self.path.clear();
        // Text can always be written to text.
        let _ = write!(self.path, "{}/{file}", self.root);
        &self.path
    }

    /// The text of a file, as a whole.
    fn read(&mut self, file: fmt::Arguments<'_>) -> io::Result<&[u8]> {
        let mut file = File::open(self.path(file))?;
        let mut length = 0;
        loop {
            if length == self.buffer.len() {
                self.buffer.resize(length * 2, 0);
            }
            match file.read(&mut self.buffer[length..]) {
                Ok(0) => return Ok(&self.buffer[..length]),
                Ok(count) => length += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// What a line of `/proc/<pid>/stat` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    has_ended: bool,
    parent: u32,
    pub(crate) user_ticks: u64,
    pub(crate) system_ticks: u64,
    pub(crate) threads: u64,
    start_time: u64,
}

impl Stat {
    fn parse(text: &[u8]) -> Option<Self> {
        // The name of the program stands in parentheses and may hold anything, parentheses and line ends too.
        let end = text.iter().rposition(|byte| *byte == b')')?;
        let mut fields = text[end + 1..]
            .split(u8::is_ascii_whitespace)
            .filter(|field| !field.is_empty());
        let state = fields.next()?;
        let parent = number(fields.next()?)?;
        Some(Self {
            // A zombie, or dead.
            has_ended: matches!(state, b"Z" | b"X" | b"x"),
            parent: u32::try_from(parent).ok()?,
            user_ticks: number(fields.nth(9)?)?,
            system_ticks: number(fields.next()?)?,
            threads: number(fields.nth(4)?)?,
            start_time: number(fields.nth(1)?)?,
        })
    }
}

/// The names in a directory that are numbers.
fn numbers_in(directory: &str) -> Vec<u32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// The number after a key at the start of a line in bytes, where the kernel says `kB` and means 1,024 of them.
fn kilobytes(text: &[u8], key: &[u8]) -> Option<u64> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let rest = lines.find_map(|line| line.strip_prefix(key))?;
    let mut words = rest.split(u8::is_ascii_whitespace);
    number(words.find(|word| !word.is_empty())?)?.checked_mul(1024)
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_may_be_called_anything() {
        let fields = "S 42 7 7 0 -1 4194560 90 7 0 0 5 6 70 800 20 0 3 0 1234567 9 8";
        for name in ["a", "a) R 1 (b", "a b", "(", "\u{e9}\n)"] {
            let stat = Stat {
                has_ended: false,
                parent: 42,
                user_ticks: 5,
                system_ticks: 6,
                threads: 3,
                start_time: 1_234_567,
            };
            let text = format!("117 ({name}) {fields}\n");
            assert_eq!(Stat::parse(text.as_bytes()), Some(stat), "{name}");
        }
        let mut odd = b"117 (\xff\xfe) ".to_vec();
        odd.extend_from_slice(fields.as_bytes());
        assert_eq!(Stat::parse(&odd).map(|stat| stat.parent), Some(42));
        for text in ["", "117 (a", "117 (a)", "117 (a) S 42", "117 (a) S x y"] {
            assert_eq!(Stat::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_key_counts_at_the_start_of_a_line_only() {
        let text =
            b"Locked: 9 kB\nPss_Rss: 8 kB\nRss:   7 kB\nPss: no kB\nBig: 99999999999999999999 kB";
        assert_eq!(kilobytes(text, b"Rss:"), Some(7 * 1024));
        assert_eq!(kilobytes(text, b"Pss:"), None);
        assert_eq!(kilobytes(text, b"Big:"), None);
        assert_eq!(kilobytes(text, b"Swap:"), None);
    }
}
