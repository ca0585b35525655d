//! Files of the kernel, below a root that a test can choose.

use std::fs;
use std::path::{Path, PathBuf};

use gym_resources::Mebibytes;

use crate::unavailable::Unavailable;

/// Where files are looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Files<'a>(&'a Path);

impl<'a> Files<'a> {
    pub(super) fn below(root: &'a Path) -> Self {
        Self(root)
    }

    /// A path below the root, for one that starts with a slash or not.
    pub(super) fn path(self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    /// Reads a file as a whole. One that is gone belongs to something that is gone.
    pub(super) fn read(self, path: &str) -> Result<String, Unavailable> {
        read(&self.path(path))
    }

    pub(super) fn host_name(self) -> Option<String> {
        let name = self.read("proc/sys/kernel/hostname").ok()?;
        Some(name.trim().to_owned()).filter(|name| !name.is_empty())
    }

    /// The memory of the machine.
    pub(super) fn memory_total(self) -> Option<Mebibytes> {
        let text = self.read("proc/meminfo").ok()?;
        kilobytes(&text, "MemTotal:").map(|number| Mebibytes::from_bytes(number * 1024))
    }

    /// The processors of the machine.
    pub(super) fn cpus(self) -> Option<f64> {
        let text = self.read("proc/stat").ok()?;
        let is_cpu = |line: &&str| {
            line.strip_prefix("cpu")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let count = text.lines().filter(is_cpu).count();
        u32::try_from(count)
            .ok()
            .filter(|count| *count > 0)
            .map(f64::from)
    }

    /// The ids of all processes.
    pub(super) fn processes(self) -> Result<Vec<u32>, Unavailable> {
        let entries = fs::read_dir(self.path("proc")).map_err(|_| Unavailable::Connection)?;
        let id = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
        Ok(entries.filter_map(Result::ok).filter_map(id).collect())
    }
}

pub(super) fn read(path: &Path) -> Result<String, Unavailable> {
    let bytes = fs::read(path).map_err(|_| Unavailable::Connection)?;
    String::from_utf8(bytes).map_err(|_| Unavailable::MalformedReading)
}

/// The number after a key at the start of a line, where the kernel says `kB` and means 1,024 bytes.
pub(super) fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

/// The number after a word that is a line's first.
pub(super) fn number(text: &str, word: &str) -> Option<u64> {
    let mut fields = text
        .lines()
        .map(str::split_ascii_whitespace)
        .find_map(|mut fields| (fields.next() == Some(word)).then_some(fields))?;
    fields.next()?.parse().ok()
}
