//! A process group as `/proc` shows it.

use std::time::Duration;

use gym_resources::Mebibytes;

use super::files::{Files, kilobytes};
use crate::unavailable::Unavailable;

/// The kernel counts CPU time for user space in hundredths of a second, on every architecture.
const TICK: Duration = Duration::from_millis(10);

/// What a line of `/proc/<pid>/stat` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    group: u32,
    /// Time of the process and of the children that it has waited for.
    ticks: u64,
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        // The name of the program stands in parentheses and may hold anything, parentheses too.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let times = fields.get(11..15)?;
        Some(Self {
            group: fields.get(2)?.parse().ok()?,
            // The times of children can be negative in print: nothing guards them.
            ticks: times
                .iter()
                .map(|time| {
                    time.parse::<i64>()
                        .ok()
                        .and_then(|time| u64::try_from(time).ok())
                })
                .sum::<Option<u64>>()?,
        })
    }
}

/// The memory that is resident and the CPU time used, of all processes together. It goes over the machine's
/// processes once; what is resident is read only of those of the group, because `stat` counts pages of a size that
/// only the kernel knows.
pub(super) fn usage(
    files: Files<'_>,
    group: u32,
) -> Result<(Mebibytes, Result<Duration, Unavailable>), Unavailable> {
    let members = members(files, group)?;
    let resident: Vec<u64> = members
        .iter()
        .filter_map(|(id, _)| files.read(&format!("proc/{id}/status")).ok())
        .filter_map(|status| kilobytes(&status, "VmRSS:"))
        .collect();
    if resident.is_empty() {
        // Nobody is left but processes that have ended.
        return Err(Unavailable::Connection);
    }
    let memory = Mebibytes::from_bytes(resident.iter().sum::<u64>() * 1024);
    Ok((memory, time_of(&members)))
}

/// The CPU time that the processes have used.
pub(super) fn cpu_time(files: Files<'_>, group: u32) -> Result<Duration, Unavailable> {
    time_of(&members(files, group)?)
}

fn time_of(members: &[(u32, Stat)]) -> Result<Duration, Unavailable> {
    let ticks = members.iter().map(|(_, stat)| stat.ticks).sum::<u64>();
    Ok(TICK * u32::try_from(ticks).map_err(|_| Unavailable::MalformedReading)?)
}

/// The processes of the group. Those that end meanwhile are left out.
fn members(files: Files<'_>, group: u32) -> Result<Vec<(u32, Stat)>, Unavailable> {
    let stat = |id: u32| {
        let stat = Stat::parse(&files.read(&format!("proc/{id}/stat")).ok()?)?;
        (stat.group == group).then_some((id, stat))
    };
    let members: Vec<_> = files.processes()?.into_iter().filter_map(stat).collect();
    if members.is_empty() {
        return Err(Unavailable::Connection);
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::Stat;

    #[test]
    fn a_program_may_be_called_anything() {
        let line = "117 (a) R (b c)) S 1 42 42 0 -1 4194560 90 7 0 0 5 6 70 800 20 0 1 0 12 0 0\n";
        assert_eq!(
            Stat::parse(line),
            Some(Stat {
                group: 42,
                ticks: 881
            })
        );
        for line in [
            "",
            "117 (a)",
            "117 (a) S 1 42 42 0 -1",
            "117 (a) S 1 x 42 0 -1 0 0 0 0 0 1 1 1 1",
        ] {
            assert_eq!(Stat::parse(line), None, "{line}");
        }
    }
}
