//! The table of memory: the most that each server was seen to hold.

use gym_telemetry_api::MemoryPeaks;

const MIB: u64 = 1024 * 1024;

/// One line for each server below a heading, and one for the machine; nothing where memory was not sampled.
pub(super) fn table(peaks: Option<&MemoryPeaks>) -> Vec<String> {
    let Some(peaks) = peaks else {
        return Vec::new();
    };
    let heading = ["sampled peak", "RSS", "PSS", "processes"].map(str::to_owned);
    let mut rows = vec![heading];
    rows.extend(peaks.servers.iter().map(|server| {
        [
            server.name.clone(),
            mebibytes(server.rss_bytes),
            mebibytes(server.pss_bytes),
            server.processes.to_string(),
        ]
    }));
    rows.push([
        "machine, in use".to_owned(),
        mebibytes(peaks.host_bytes),
        String::new(),
        String::new(),
    ]);
    let widths: [usize; 4] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or_default()
    });
    let line = |[name, rss, pss, processes]: &[String; 4]| {
        let [first, second, third, fourth] = widths;
        let line = format!("{name:<first$}  {rss:>second$}  {pss:>third$}  {processes:>fourth$}");
        line.trim_end().to_owned()
    };
    std::iter::once(String::new())
        .chain(rows.iter().map(line))
        .collect()
}

/// In MiB with one digit after the point, rounded down; a dash where nothing was measured.
fn mebibytes(bytes: Option<u64>) -> String {
    let Some(bytes) = bytes else {
        return "-".to_owned();
    };
    format!("{}.{} MiB", bytes / MIB, bytes % MIB * 10 / MIB)
}

#[cfg(test)]
mod tests {
    use gym_telemetry_api::{MemoryPeaks, ProfiledServer, ServerPeaks, ServerType};

    use super::{MIB, table};

    #[test]
    fn columns_are_aligned_and_what_was_not_measured_is_a_dash() {
        assert!(table(None).is_empty());
        let server = ProfiledServer::new("policy_model", ServerType::ResponsesApiModels, 7);
        let mut server = ServerPeaks::none_of(&server);
        server.raise(12, 1000 * MIB + MIB / 2, None);
        let mut peaks = MemoryPeaks::default();
        peaks.host_bytes = Some(2048 * MIB);
        peaks.servers.push(server);
        assert_eq!(
            table(Some(&peaks)),
            [
                "",
                "sampled peak            RSS  PSS  processes",
                "policy_model     1000.5 MiB    -         12",
                "machine, in use  2048.0 MiB",
            ]
        );
    }
}
