//! The memory of a process and of everything that descends from it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::files::{HostMemory, Pages, Proc};

/// Going over the pages of a process is most of the work. One whose pages are the same in number as at its last count,
/// in a tree of the same processes, is counted again in one round of this many.
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
    /// Whether nothing that was found out before may stand for what is now.
    is_exact: bool,
    known: HashMap<u32, Known>,
    /// The living processes of each tree as it was last measured, sorted.
    members: HashMap<u32, Vec<u32>>,
    /// Reused between trees.
    met: HashSet<u32>,
    waiting: Vec<u32>,
    living: Vec<(u32, Pages)>,
}

/// What was found out about a process.
#[derive(Clone, Copy, Debug)]
struct Known {
    pages: Pages,
    rss: u64,
    pss: Option<u64>,
    /// The last round that met it.
    met: u64,
    /// The last round that went over its pages.
    counted: u64,
}

impl Trees {
    pub(super) fn new(root: &Path, page_size: u64) -> Self {
        Self {
            proc: Proc::at(root),
            page_size,
            round: 0,
            is_exact: false,
            known: HashMap::new(),
            members: HashMap::new(),
            met: HashSet::new(),
            waiting: Vec::new(),
            living: Vec::new(),
        }
    }

    /// Begins a round; what is measured in it is measured once. If it `is_exact`, the pages of every process are gone
    /// over, also where nothing seems to have changed.
    pub(super) fn begin(&mut self, is_exact: bool) {
        self.proc.begin();
        let last = self.round;
        self.known.retain(|_, known| known.met == last);
        self.round += 1;
        self.is_exact = is_exact;
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
        self.find_living(root);
        let mut members: Vec<u32> = self.living.iter().map(|(pid, _)| *pid).collect();
        members.sort_unstable();
        // One that has come or gone may share pages with all the others, whose numbers of pages do not tell.
        let is_exact = self.is_exact || self.members.get(&root) != Some(&members);
        self.members.insert(root, members);
        let mut tree = Tree {
            pss: Some(0),
            ..Tree::default()
        };
        let living = std::mem::take(&mut self.living);
        for (pid, pages) in &living {
            if let Some(known) = self.process(*pid, *pages, is_exact) {
                tree.processes += 1;
                tree.rss += known.rss;
                tree.pss = tree.pss.zip(known.pss).map(|(sum, pss)| sum + pss);
            }
        }
        self.living = living;
        tree
    }

    /// Lists the process and its descendants as far as they hold memory.
    fn find_living(&mut self, root: u32) {
        self.living.clear();
        self.met.clear();
        self.waiting.clear();
        self.waiting.push(root);
        while let Some(pid) = self.waiting.pop() {
            // One that gets another parent just now may be met at both.
            if !self.met.insert(pid) {
                continue;
            }
            if let Some(pages) = self.pages_of_living(pid) {
                self.living.push((pid, pages));
            }
            self.proc.children(pid, &mut self.waiting);
        }
    }

    /// The memory of one process; `None` if it has ended, reaped or not.
    fn process(&mut self, pid: u32, pages: Pages, is_exact: bool) -> Option<Known> {
        let is_due = (self.round + u64::from(pid)).is_multiple_of(ROUNDS_UNCHANGED);
        if let Some(known) = self.known.get_mut(&pid) {
            // A number that is too small to be told does not tell changes either.
            let is_unchanged = known.pages == pages && pages.resident > 0;
            if known.counted == self.round || (is_unchanged && !is_due && !is_exact) {
                known.met = self.round;
                return Some(*known);
            }
        }
        let (rss, pss) = if let Some(resident) = self.proc.resident(pid) {
            (resident.rss, Some(resident.pss))
        } else {
            // Has it ended, or must we not know?
            self.proc.start_time(pid)?;
            (self.pages_of_living(pid)?.resident * self.page_size, None)
        };
        let known = Known {
            pages,
            rss,
            pss,
            met: self.round,
            counted: self.round,
        };
        self.known.insert(pid, known);
        Some(known)
    }

    fn pages_of_living(&mut self, pid: u32) -> Option<Pages> {
        // What has ended has no addresses, even while nobody has asked how it ended.
        self.proc.pages(pid).filter(|pages| pages.size > 0)
    }
}
