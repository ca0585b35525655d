//! The known name that an unknown one was probably meant to be.

/// The most edits at which a name is suggested.
const NEAR: usize = 3;

/// The known name closest to an unknown one, if any is close.
pub(crate) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    if name.len() > 100 {
        return None;
    }
    let distances = known.iter().map(|known| (distance(name, known), *known));
    let (distance, near) = distances.min()?;
    (distance <= NEAR && distance * 2 < near.len()).then_some(near)
}

/// The end of a message about an unknown name.
pub(crate) fn did_you_mean(name: &str, known: &[&str]) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!(", did you mean {near}?"))
}

/// Edits that turn one text into the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let known = ["enabled", "exporter", "span_groups", "run_id"];
        for (name, near) in [
            ("enable", Some("enabled")),
            ("Enabled", Some("enabled")),
            ("span_group", Some("span_groups")),
            ("spangroups", Some("span_groups")),
            ("exportre", Some("exporter")),
            ("runid", Some("run_id")),
            ("cpu_sampling_enabled", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, &known), near, "{name}");
        }
        assert_eq!(nearest(&"e".repeat(1 << 20), &known), None);
    }
}
