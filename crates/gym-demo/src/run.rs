//! `gym-demo run`: a fleet, rollouts, results.

use std::env::current_exe;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gym_concurrency::ConcurrencyComponent;
use gym_telemetry_api::{
    MemoryPeaks, MemoryProfiler, in_span, observe_current_runtime, record_active_servers,
};
use gym_telemetry_core::{ChildEnv, ServerIdentity, ServerType, group, span};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::RunArgs;
use crate::client::Client;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::fleet::{Fleet, ServerSpec, Surroundings, limits_file};
use crate::limits::{self, Limit};
use crate::results::{ResultsFile, RolloutResult};
use crate::servers::Kind;
use crate::summary::{self, Summary};
use crate::tasks::Tasks;
use crate::telemetry::{self, Telemetry};
use crate::{launch, runtime};

/// The orchestrator's name among the processes of a run.
const OWN_NAME: &str = "orchestrator";

/// Runs the command.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    // Whatever the user can get wrong comes before anything starts.
    let tasks = Tasks::load(args.tasks.as_deref())?;
    let specs = args.servers.specs()?;
    let hand_over = telemetry::configure(args.config.as_deref())?;

    let out = &args.out;
    fs::create_dir_all(out)
        .map_err(|error| Failure::run(format!("cannot create {}: {error}", out.display())))?;
    let results = ResultsFile::create(out)?;
    if hand_over.is_some() {
        telemetry::direct_stdout(&console_file(out, OWN_NAME))?;
    }
    let telemetry = Telemetry::start(
        ServerIdentity::builder()
            .server_type(ServerType::Orchestrator)
            .build(),
    );
    let mut run = Run {
        args,
        results,
        attempts: Vec::new(),
        profiler: None,
        peaks: None,
        parallel: Arc::new(Limit::new(
            args.parallel,
            ConcurrencyComponent::RolloutDriver,
            "rollouts",
            None,
            None,
        )),
    };
    let outcome = run.with_fleet(tasks, &specs, hand_over.as_ref());
    telemetry.shut_down();

    let console = keep_console_files(out, &specs);
    let logs = specs
        .iter()
        .map(|spec| (spec.name.as_str(), log_file(out, &spec.name)));
    summary::logs(&logs.collect::<Vec<_>>());
    let mut limits = vec![(OWN_NAME, run.parallel.report())];
    for spec in &specs {
        let reports = limits::take(&limits_file(out, &spec.name));
        limits.extend(
            reports
                .into_iter()
                .map(|report| (spec.name.as_str(), report)),
        );
    }
    Summary {
        results: &run.attempts,
        limits: &limits,
        memory: run.peaks.as_ref(),
        out,
        console: &console,
    }
    .print();
    outcome
}

/// A run under way.
#[derive(Debug)]
struct Run<'a> {
    args: &'a RunArgs,
    results: ResultsFile,
    attempts: Vec<RolloutResult>,
    /// Samples the memory of the servers while they work.
    profiler: Option<MemoryProfiler>,
    /// What that came to.
    peaks: Option<MemoryPeaks>,
    /// Bounds the rollouts; here, so that it is still there at the last export.
    parallel: Arc<Limit>,
}

impl Run<'_> {
    /// Starts the servers, rolls out, stops the servers.
    fn with_fleet(
        &mut self,
        tasks: Tasks,
        specs: &[ServerSpec],
        hand_over: Option<&ChildEnv>,
    ) -> Result<(), Failure> {
        let executable = current_exe()
            .map_err(|error| Failure::run(format!("cannot find this program: {error}")))?;
        let surroundings = Surroundings {
            executable: &executable,
            launcher: launch::SUPPORTED,
            out: &self.args.out,
            telemetry_on_stdout: hand_over.is_some(),
        };
        let runtime = runtime::build()?;
        let mut fleet = Fleet::start(specs, surroundings, &|command| {
            if let Some(hand_over) = hand_over {
                hand_over.apply(command);
            }
            telemetry::spare_the_warning(command);
            self.args.sizes.hand_over(command);
        })?;
        let outcome = runtime.block_on(self.until_signal(&mut fleet, tasks));
        // Before the servers begin to go: what they hold then says nothing.
        self.peaks = self.profiler.take().map(|profiler| profiler.stop());
        summary::endings(&fleet.stop());
        record_active_servers(0);
        outcome
    }

    /// Rolls out until done, or until the user or the system wants an end.
    async fn until_signal(&mut self, fleet: &mut Fleet, tasks: Tasks) -> Result<(), Failure> {
        observe_current_runtime();
        let failed = |error| Failure::run(format!("cannot handle signals: {error}"));
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        // A signal drops the job, which is no failure of it.
        let job = in_span!(group::JOB, span::JOB, err; self.roll_out(fleet, tasks));
        tokio::select! {
            outcome = job => outcome,
            _ = interrupt.recv() => Err(Failure::signal("SIGINT", 2)),
            _ = terminate.recv() => Err(Failure::signal("SIGTERM", 15)),
        }
    }

    async fn roll_out(&mut self, fleet: &mut Fleet, tasks: Tasks) -> Result<(), Failure> {
        fleet.ready().await?;
        record_active_servers(fleet.len() as u64);
        self.profiler = MemoryProfiler::start(fleet.profiled());

        let rollouts = self.args.rollouts.map_or(tasks.len(), usize::from);
        let driver = Arc::new(Driver {
            tasks,
            client: Client::new(&fleet.hosts(), fleet.urls())?,
            agent_url: fleet.url(Kind::Agent).to_owned(),
            rollouts,
            parallel: Arc::clone(&self.parallel),
            attempts: self.args.attempts,
        });
        let progress = progress_bar(rollouts);
        let mut failed = 0;
        let rolled_out = driver.drive(|attempts| {
            progress.inc(1);
            failed += usize::from(attempts.last().is_none_or(|last| last.error.is_some()));
            for attempt in attempts {
                self.results.append(&attempt)?;
                self.attempts.push(attempt);
            }
            Ok(())
        });
        // Without one of its servers nothing can succeed any more.
        let rolled_out = tokio::select! {
            rolled_out = rolled_out => rolled_out,
            failure = fleet.loss() => Err(failure),
        };
        progress.finish_and_clear();
        rolled_out?;
        if failed > 0 {
            Err(Failure::run(format!(
                "{failed} of {rollouts} rollouts failed"
            )))
        } else {
            Ok(())
        }
    }
}

/// Hidden by itself where standard error is no terminal.
fn progress_bar(rollouts: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} rollouts, {elapsed}")
        .expect("a constant template is valid");
    ProgressBar::new(rollouts as u64).with_style(style)
}

fn console_file(out: &Path, process: &str) -> PathBuf {
    out.join(format!("{process}.jsonl"))
}

fn log_file(out: &Path, process: &str) -> PathBuf {
    out.join(format!("{process}.log"))
}

/// Removes the files of processes that wrote no telemetry on standard output; returns the others.
fn keep_console_files(out: &Path, specs: &[ServerSpec]) -> Vec<PathBuf> {
    let names = specs
        .iter()
        .map(|spec| spec.name.as_str())
        .chain([OWN_NAME]);
    let files = names.map(|name| console_file(out, name));
    files
        .filter(|file| match fs::metadata(file) {
            Ok(metadata) if metadata.len() == 0 => {
                // Left behind, it is only an empty file.
                let _ = fs::remove_file(file);
                false
            }
            Ok(_) => true,
            Err(_) => false,
        })
        .collect()
}
