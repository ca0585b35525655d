//! The table of the limits: where work had to wait, and whether it got on.

use crate::limits::LimitReport;

/// One line for each limit below a heading; nothing where there is no limit.
pub(super) fn table(limits: &[(&str, LimitReport)]) -> Vec<String> {
    if limits.is_empty() {
        return Vec::new();
    }
    let heading = [
        "limit",
        "of",
        "slots",
        "most active",
        "most queued",
        "waits",
        "longest",
        "timeouts",
        "cancelled",
        "held at end",
    ];
    let mut rows = vec![heading.map(str::to_owned)];
    rows.extend(limits.iter().map(|(process, report)| {
        [
            report.name.clone(),
            (*process).to_owned(),
            report.slots.to_string(),
            report.peak_active.to_string(),
            report.peak_queued.to_string(),
            report.waits.to_string(),
            format!("{:.1} ms", report.longest_wait_ms),
            report.timeouts.to_string(),
            report.cancelled.to_string(),
            report.held_at_end.to_string(),
        ]
    }));
    let widths: [usize; 10] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or_default()
    });
    let line = |row: &[String; 10]| {
        let cells = row.iter().zip(widths).enumerate();
        let cells: Vec<_> = cells
            .map(|(column, (cell, width))| match column {
                0 | 1 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        cells.join("  ")
    };
    std::iter::once(String::new())
        .chain(rows.iter().map(line))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::table;
    use crate::limits::LimitReport;

    #[test]
    fn columns_are_aligned_and_no_limits_are_no_table() {
        let report = LimitReport {
            name: "generations".to_owned(),
            slots: 2,
            peak_active: 2,
            peak_queued: 10,
            waits: 12,
            longest_wait_ms: 20.25,
            timeouts: 0,
            cancelled: 1,
            held_at_end: 0,
        };
        let lines = table(&[("policy_model", report)]);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1].chars().count(), lines[2].chars().count());
        let cells: Vec<_> = lines[2].split_whitespace().collect();
        let expected = "generations policy_model 2 2 10 12 20.2 ms 0 1 0";
        assert_eq!(cells.join(" "), expected);
        assert!(table(&[]).is_empty());
    }
}
