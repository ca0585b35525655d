//! What the servers wrote on standard error: their warnings are for the user too.

use std::fs;
use std::path::PathBuf;

use crate::say;

/// Lines of one server that are worth repeating.
const MOST_LINES: usize = 20;

/// Repeats the last of what each server wrote; what several wrote alike is repeated once.
pub(crate) fn logs(files: &[(&str, PathBuf)]) {
    for line in merge(files) {
        say::line(line);
    }
}

fn merge(files: &[(&str, PathBuf)]) -> Vec<String> {
    let mut merged: Vec<(String, Vec<&str>)> = Vec::new();
    for (server, path) in files {
        let bytes = fs::read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> = text.lines().collect();
        let left_out = lines.len().saturating_sub(MOST_LINES);
        if left_out > 0 {
            merged.push((
                format!("… {left_out} earlier lines in {}", path.display()),
                vec![server],
            ));
        }
        for line in &lines[left_out..] {
            match merged
                .iter_mut()
                .find(|(known, servers)| known == line && !servers.contains(server))
            {
                Some((_, servers)) => servers.push(server),
                None => merged.push(((*line).to_owned(), vec![server])),
            }
        }
    }
    merged
        .into_iter()
        .map(|(line, servers)| format!("{}: {line}", servers.join(", ")))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::merge;

    #[test]
    fn what_servers_say_alike_is_repeated_once() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            fs::write(&path, text).expect("a writable file");
            path
        };
        let many = (0..25)
            .map(|line| line.to_string())
            .collect::<Vec<_>>()
            .join("\n");
        let (one, other) = (file("one", "same\nsame\nown\n"), file("other", "same\n"));
        let lines = merge(&[
            ("one", one),
            ("other", other),
            ("silent", directory.path().join("silent")),
        ]);
        assert_eq!(lines, ["one, other: same", "one: same", "one: own"]);

        let lines = merge(&[("many", file("many", &many))]);
        assert_eq!(lines.len(), 21);
        assert!(
            lines[0].starts_with("many: … 5 earlier lines in "),
            "{lines:?}"
        );
        assert_eq!(lines[20], "many: 24");
    }
}
