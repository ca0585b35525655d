//! Whether the servers of a run can be used.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::Fleet;
use crate::client;
use crate::failure::{Failure, chain};
use crate::servers::HEALTH_PATH;

/// A fleet that is not ready by then never will be.
const DEADLINE: Duration = Duration::from_secs(30);
/// Time for one answer; a server that is still starting has the request wait at its door.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);
/// Rest between two rounds of probes.
const PAUSE: Duration = Duration::from_millis(20);
/// Rest between two looks at servers that work.
const WATCH_PAUSE: Duration = Duration::from_millis(100);

impl Fleet {
    /// Waits until each server answers its health route with success.
    ///
    /// # Errors
    ///
    /// A server that ended, or one that does not answer in time.
    ///
    /// # Cancel safety
    ///
    /// May be dropped and called again at any point.
    pub(crate) async fn ready(&mut self) -> Result<(), Failure> {
        let client = client::plain(&self.hosts())?;
        let deadline = Instant::now() + DEADLINE;
        let mut waiting: Vec<usize> = (0..self.processes.len()).collect();
        let mut last = String::new();
        loop {
            self.all_alive()?;
            let mut still_waiting = Vec::new();
            for index in waiting {
                let url = format!(
                    "{}{HEALTH_PATH}",
                    self.endpoints.url(self.processes[index].kind)
                );
                if let Err(reason) = probe(&client, &url).await {
                    last = format!(
                        "{} is not ready: GET {url}: {reason}",
                        self.processes[index].name
                    );
                    still_waiting.push(index);
                }
            }
            waiting = still_waiting;
            if waiting.is_empty() {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(Failure::run(format!(
                    "{last} (gave up after {} s)",
                    DEADLINE.as_secs()
                )));
            }
            sleep(PAUSE).await;
        }
    }

    /// Waits until a server ends, which no server does by itself, and says which.
    ///
    /// # Cancel safety
    ///
    /// May be dropped and called again at any point.
    pub(crate) async fn loss(&mut self) -> Failure {
        loop {
            if let Err(failure) = self.all_alive() {
                return failure;
            }
            sleep(WATCH_PAUSE).await;
        }
    }

    /// Says which server ended, if one did.
    fn all_alive(&mut self) -> Result<(), Failure> {
        for process in &mut self.processes {
            if let Some(status) = process.ended() {
                return Err(Failure::run(format!(
                    "{} ended before its time ({status})",
                    process.name
                )));
            }
        }
        Ok(())
    }
}

async fn probe(client: &reqwest::Client, url: &str) -> Result<(), String> {
    match client.get(url).timeout(PROBE_TIMEOUT).send().await {
        Ok(response) if response.status().is_success() => Ok(()),
        Ok(response) => Err(response.status().to_string()),
        Err(error) => Err(chain(&error)),
    }
}
