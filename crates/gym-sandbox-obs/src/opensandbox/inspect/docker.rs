//! The inspection of the Docker runtime.
//!
//! The section with the limits stands before the labels and the environment, which whoever creates a sandbox
//! can fill with line breaks, and after the daemon's error text, if there is one. Without an error the section
//! has a fixed line. With one, a second line that looks like the section's head makes both unsafe.

use gym_resources::{Cores, Mebibytes, SandboxResourceAmounts};

use super::{Inspection, header};
use crate::allocation::{Component, DesignatorKind};
use crate::unavailable::Unavailable;

/// Lines from `Container ID:` to `Finished At:`.
const HEADER_LINES: usize = 10;

pub(super) fn parse(lines: &[&str]) -> Result<Inspection, Unavailable> {
    let (head, rest) = lines
        .split_at_checked(HEADER_LINES)
        .ok_or(Unavailable::UnrecognizedResponse)?;
    let mut heads = rest
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| *pair == ["", "Resources:"]);
    let (blank, _) = heads.next().ok_or(Unavailable::UnrecognizedResponse)?;
    let has_error = rest[0].starts_with("Error:");
    if has_error && heads.next().is_some() || !has_error && blank != 0 {
        return Err(Unavailable::UnrecognizedResponse);
    }
    let section = rest[blank + 2..].iter().take_while(|line| !line.is_empty());
    let name = header(head, "Name")
        .filter(|name| !name.is_empty())
        .ok_or(Unavailable::UnrecognizedResponse)?;
    Ok(Inspection {
        components: vec![Component {
            name: name.to_owned(),
            requests: SandboxResourceAmounts::default(),
            limits: limits(section)?,
        }],
        designator: header(head, "Container ID")
            .filter(|id| !id.is_empty())
            .map(|id| (DesignatorKind::DockerContainer, id.to_owned())),
        node: None,
    })
}

fn limits<'a>(
    section: impl Iterator<Item = &'a &'a str>,
) -> Result<SandboxResourceAmounts, Unavailable> {
    let mut limits = SandboxResourceAmounts::default();
    for line in section {
        let (key, value) = line
            .strip_prefix("  ")
            .and_then(|line| line.split_once(':'))
            .ok_or(Unavailable::UnrecognizedResponse)?;
        let value = value.trim_start_matches(' ');
        // A limit of zero is not printed: what prints as zero was rounded down to it, and is not known.
        match key {
            "CPU" => {
                let number = value
                    .strip_suffix(" cores")
                    .ok_or(Unavailable::UnrecognizedResponse)?;
                let cores =
                    Cores::from_quantity(number).map_err(|_| Unavailable::MalformedQuantity)?;
                limits.cpu = (cores.get() > 0.0).then_some(cores);
            }
            "Memory" => {
                let number = value
                    .strip_suffix(" MiB")
                    .ok_or(Unavailable::UnrecognizedResponse)?;
                let whole: u64 = number.parse().map_err(|_| Unavailable::MalformedQuantity)?;
                limits.memory_mib = (whole > 0).then(|| Mebibytes::from_whole(whole));
            }
            "PIDs Limit" => {}
            _ => return Err(Unavailable::UnrecognizedResponse),
        }
    }
    Ok(limits)
}
