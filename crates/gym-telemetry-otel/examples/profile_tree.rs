//! What it costs to sample the memory of a server with many processes.
//!
//! Starts that many processes, 500 unless the first argument says otherwise, samples them at the interval of the
//! settings for as many seconds as the second argument says, 30 unless it does, and tells what the sampling thread has
//! used of a core:
//!
//! ```console
//! $ NEMO_GYM_OTEL_ENABLED=1 NEMO_GYM_OTEL_EXPORTER=console NEMO_GYM_OTEL_MEMORY_PROFILING_ENABLED=1 \
//!       cargo run --release -p gym-telemetry-otel --example profile_tree > /dev/null
//! ```

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Write, stderr};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use gym_telemetry_core::{ProfiledServer, ServerIdentity, ServerType};
use gym_telemetry_otel::{MemoryProfiler, init_telemetry};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| -> Result<u64, Box<dyn Error>> {
        Ok(arguments.next().map_or(Ok(default), |text| text.parse())?)
    };
    let (processes, seconds) = (number(500)?, number(30)?);
    let telemetry = init_telemetry(ServerIdentity::default());

    // The shell ends with its standard input, and then ends the others.
    let script = format!(
        "n=0; while [ $n -lt {} ]; do sleep 3600 & n=$((n + 1)); done; echo up; read line; kill $(jobs -p)",
        processes.saturating_sub(1)
    );
    let mut shell = Command::new("bash")
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let output = shell.stdout.take().ok_or("no standard output")?;
    BufReader::new(output).read_line(&mut String::new())?;

    let server = ProfiledServer::new("tree", ServerType::ResponsesApiAgents, shell.id());
    let Some(profiler) = MemoryProfiler::start([server]) else {
        return Err("memory profiling is off: see the first lines of this example".into());
    };
    // The first sample finds everything new.
    sleep(Duration::from_secs(2));
    let (begun, used_before) = (Instant::now(), used_by_profiler()?);
    sleep(Duration::from_secs(seconds));
    let used = used_by_profiler()?.saturating_sub(used_before);
    let passed = begun.elapsed();
    let peaks = profiler.stop();
    drop(shell.stdin.take());
    shell.wait()?;
    if let Some(telemetry) = telemetry {
        let _receipt = telemetry.shutdown(Duration::from_secs(5));
    }

    writeln!(
        stderr(),
        "{} processes, {:.2} % of a core over {:.1} s",
        peaks.servers[0].processes,
        used.as_secs_f64() / passed.as_secs_f64() * 100.0,
        passed.as_secs_f64()
    )?;
    Ok(())
}

/// The CPU time of the sampling thread.
fn used_by_profiler() -> Result<Duration, Box<dyn Error>> {
    for task in fs::read_dir("/proc/self/task")? {
        let task = task?.path();
        if fs::read_to_string(task.join("comm"))?.trim_end() == "nemo-gym-memory" {
            let used = fs::read_to_string(task.join("schedstat"))?;
            let used = used.split(' ').next().unwrap_or_default().parse()?;
            return Ok(Duration::from_nanos(used));
        }
    }
    Err("there is no sampling thread".into())
}
