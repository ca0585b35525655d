//! The servers of a run as child processes: started, watched until ready, stopped.

mod endpoint;
mod ready;
mod spawn;
mod stop;

use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

use gym_telemetry_core::ProfiledServer;

pub(crate) use self::endpoint::Place;
use self::endpoint::{Endpoint, Endpoints};
use self::spawn::Process;
pub(crate) use self::spawn::limits_file;
pub(crate) use self::stop::Ending;
use crate::failure::Failure;
use crate::servers::Kind;

/// One server that is to run.
#[derive(Clone, Debug)]
pub(crate) struct ServerSpec {
    pub(crate) kind: Kind,
    /// The name of the server in the configuration of a gym; names its files too.
    pub(crate) name: String,
    pub(crate) place: Place,
    /// What to start instead of this executable's own server.
    pub(crate) command: Option<Vec<String>>,
}

/// What all servers of a run share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    /// This executable: its `serve` is the server, its `launch` the launcher.
    pub(crate) executable: &'a Path,
    /// Start servers through the launcher, which has them end with the orchestrator.
    pub(crate) launcher: bool,
    /// Where the servers' output goes.
    pub(crate) out: &'a Path,
    /// Standard output is telemetry: `<out>/<name>.jsonl`. Else it goes where standard error goes, `<out>/<name>.log`.
    pub(crate) telemetry_on_stdout: bool,
}

/// Running servers. Dropped, it stops them as [`Fleet::stop`] does, so a panic leaves none behind.
#[derive(Debug)]
#[must_use = "dropping the fleet stops it"]
pub(crate) struct Fleet {
    processes: Vec<Process>,
    endpoints: Endpoints,
}

impl Fleet {
    /// Starts the servers; `prepare` sees each command before it runs.
    ///
    /// Call it on a thread that lives as long as the fleet (the main thread): the kernel tells the
    /// servers when the thread that started them is gone.
    ///
    /// # Errors
    ///
    /// No port or no process to be had. Servers started by then are stopped.
    pub(crate) fn start(
        specs: &[ServerSpec],
        surroundings: Surroundings<'_>,
        prepare: &dyn Fn(&mut Command),
    ) -> Result<Self, Failure> {
        let mut listeners = Vec::new();
        let mut endpoints = Endpoints::default();
        // All addresses are known before the first server starts, so each can be told all others.
        for spec in specs {
            let (listener, endpoint) = Endpoint::reserve(spec)?;
            listeners.push(listener);
            endpoints.push(endpoint);
        }
        let mut fleet = Self {
            processes: Vec::new(),
            endpoints,
        };
        for (spec, listener) in specs.iter().zip(listeners) {
            let process = spawn::spawn(spec, listener, &fleet.endpoints, surroundings, prepare)?;
            fleet.processes.push(process);
        }
        Ok(fleet)
    }

    /// Number of servers.
    pub(crate) fn len(&self) -> usize {
        self.processes.len()
    }

    /// Each server as memory profiling knows it.
    pub(crate) fn profiled(&self) -> impl Iterator<Item = ProfiledServer> {
        self.processes.iter().map(|process| {
            let server_type = process.kind.server_type();
            ProfiledServer::new(process.name.as_str(), server_type, process.id())
        })
    }

    /// Where a server of this kind is reached, without a slash at the end.
    pub(crate) fn url(&self, kind: Kind) -> &str {
        self.endpoints.url(kind)
    }

    /// Every server's URL.
    pub(crate) fn urls(&self) -> impl Iterator<Item = &str> {
        self.endpoints.urls()
    }

    /// Names that stand for addresses of this fleet.
    pub(crate) fn hosts(&self) -> Vec<(String, IpAddr)> {
        self.endpoints.hosts()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        // Nobody is left to hear how they ended.
        let _ = self.stop();
    }
}
