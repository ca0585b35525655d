//! Whose memory is sampled, and what the samples came to.

use crate::identity::ServerType;

/// A server whose memory is sampled, with every process that it has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfiledServer {
    name: String,
    server_type: ServerType,
    pid: u32,
}

impl ProfiledServer {
    /// Names a running server: its name in the configuration of the gym, its kind, and the id of its process.
    #[must_use]
    pub fn new(name: impl Into<String>, server_type: ServerType, pid: u32) -> Self {
        Self {
            name: name.into(),
            server_type,
            pid,
        }
    }

    /// The name of the server in the configuration of the gym.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kind of the server.
    #[must_use]
    pub fn server_type(&self) -> &ServerType {
        &self.server_type
    }

    /// The id of the process that all others of the server descend from.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }
}

/// The highest of all samples, in bytes. What was used between two samples is in none of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryPeaks {
    /// Of the memory of the machine that was not available; `None` if it could not be read.
    pub host_bytes: Option<u64>,
    /// Of each server, in the order in which they were given; servers of one name and kind are one.
    pub servers: Vec<ServerPeaks>,
}

/// The highest of all samples of a server's processes together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerPeaks {
    /// The name of the server.
    pub name: String,
    /// The kind of the server.
    pub server_type: ServerType,
    /// Resident memory in bytes, shared pages once for each process; `None` if there was no sample.
    pub rss_bytes: Option<u64>,
    /// Resident memory in bytes, shared pages divided by the number of processes that share them; `None` if there was
    /// no sample in which every process told.
    pub pss_bytes: Option<u64>,
    /// The most processes in one sample.
    pub processes: u64,
}

impl ServerPeaks {
    /// The peaks of a server that has not been sampled yet.
    #[must_use]
    pub fn none_of(server: &ProfiledServer) -> Self {
        Self {
            name: server.name.clone(),
            server_type: server.server_type.clone(),
            rss_bytes: None,
            pss_bytes: None,
            processes: 0,
        }
    }

    /// Whether these are the peaks of that server, or of one with its name and kind.
    #[must_use]
    pub fn is_of(&self, server: &ProfiledServer) -> bool {
        self.name == server.name && self.server_type == server.server_type
    }

    /// Takes a sample into account.
    pub fn raise(&mut self, processes: u64, rss_bytes: u64, pss_bytes: Option<u64>) {
        self.processes = self.processes.max(processes);
        self.rss_bytes = self.rss_bytes.max(Some(rss_bytes));
        self.pss_bytes = self.pss_bytes.max(pss_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_the_highest_sample_and_each_kind_of_memory_has_its_own() {
        let server = ProfiledServer::new("policy_model", ServerType::ResponsesApiModels, 7);
        let mut peaks = ServerPeaks::none_of(&server);
        peaks.raise(2, 300, Some(200));
        peaks.raise(3, 250, None);
        peaks.raise(1, 100, Some(210));
        assert_eq!((peaks.rss_bytes, peaks.pss_bytes), (Some(300), Some(210)));
        assert_eq!(peaks.processes, 3);
        let restarted = ProfiledServer::new("policy_model", ServerType::ResponsesApiModels, 8);
        assert!(peaks.is_of(&restarted));
        assert!(!peaks.is_of(&ProfiledServer::new(
            "policy_model",
            ServerType::ResponsesApiAgents,
            7
        )));
    }
}
