//! The memory of a process and of everything that descends from it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::files::{HostMemory, Pages, Proc};

/// Going over the pages of a process is most of the work. One whose pages are the same in number as at its last count
/// is counted again in one round of this many.
const ROUNDS_UNCHANGED: u64 = 10;

/// What a tree of processes holds, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) processes: u64,
    pub(super) rss: u64,
    /// `None` if it is unknown of one process at least.
    pub(super) pss: Option<u64>,
}

/// Measures trees, round by round.
#[derive(Debug)]
pub(super) struct Trees {
    proc: Proc,
    page_size: u64,
    round: u64,
    known: HashMap<u32, Known>,
    /// Reused between trees.
    met: HashSet<u32>,
    waiting: Vec<u32>,
}

/// What was found out about a process.
#[derive(Clone, Copy, Debug)]
struct Known {
    pages: Pages,
    rss: u64,
    pss: Option<u64>,
    /// The last round that met it.
    round: u64,
}

impl Trees {
    pub(super) fn new(root: &Path, page_size: u64) -> Self {
        Self {
            proc: Proc::at(root),
            page_size,
            round: 0,
            known: HashMap::new(),
            met: HashSet::new(),
            waiting: Vec::new(),
        }
    }

    /// Begins a round; what is measured in it is measured once.
    pub(super) fn begin(&mut self) {
        self.proc.begin();
        let last = self.round;
        self.known.retain(|_, known| known.round == last);
        self.round += 1;
    }

    pub(super) fn host_memory(&mut self) -> Option<HostMemory> {
        self.proc.host_memory()
    }

    /// See [`Proc::start_time`].
    pub(super) fn start_time(&mut self, pid: u32) -> Option<u64> {
        self.proc.start_time(pid)
    }

    /// The memory of the process and its descendants. Those that end meanwhile contribute nothing.
    pub(super) fn measure(&mut self, root: u32) -> Tree {
        let mut tree = Tree {
            pss: Some(0),
            ..Tree::default()
        };
        self.met.clear();
        self.waiting.clear();
        self.waiting.push(root);
        while let Some(pid) = self.waiting.pop() {
            // One that gets another parent just now may be met at both.
            if !self.met.insert(pid) {
                continue;
            }
            if let Some(known) = self.process(pid) {
                tree.processes += 1;
                tree.rss += known.rss;
                tree.pss = tree.pss.zip(known.pss).map(|(sum, pss)| sum + pss);
            }
            self.proc.children(pid, &mut self.waiting);
        }
        tree
    }

    /// The memory of one process; `None` if it has ended, reaped or not.
    fn process(&mut self, pid: u32) -> Option<Known> {
        let pages = self.pages_of_living(pid)?;
        if let Some(known) = self.known.get_mut(&pid)
            && known.pages == pages
        {
            let is_counted = known.round == self.round;
            known.round = self.round;
            if is_counted || !(self.round + u64::from(pid)).is_multiple_of(ROUNDS_UNCHANGED) {
                return Some(*known);
            }
        }
        let (rss, pss) = match self.proc.resident(pid) {
            Some(resident) => (resident.rss, Some(resident.pss)),
            // Has it ended, or must we not know?
            None => (self.pages_of_living(pid)?.resident * self.page_size, None),
        };
        let known = Known {
            pages,
            rss,
            pss,
            round: self.round,
        };
        self.known.insert(pid, known);
        Some(known)
    }

    fn pages_of_living(&mut self, pid: u32) -> Option<Pages> {
        // What has ended holds no memory, even while nobody has asked how it ended.
        self.proc.pages(pid).filter(|pages| pages.resident > 0)
    }
}
