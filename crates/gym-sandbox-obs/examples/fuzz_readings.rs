//! Feeds the readers of OpenSandbox's answers with damaged and made-up ones, for as many seconds as are given.
//!
//! `cargo xtask fuzz` runs it. It fails when a reader panics, when an amount is negative or not finite, or when an
//! inspection without any amount counts as one.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use gym_resources::SandboxResourceAmounts;
use gym_sandbox_obs::opensandbox::{inspect, metrics};

/// Pieces that mean something to one of the readers.
const PIECES: [&str; 24] = [
    "\n",
    "\n\nResources:\n",
    "Resources:",
    "Pod Name:       ",
    "Container ID:   ",
    "Namespace:      ",
    "Node:           N/A",
    "  sandbox:\n",
    "    Requests: {",
    "    Limits:   {",
    "{'cpu': '100m', 'memory': '1536Ki'}",
    "'nvidia.com/gpu': '1'",
    "\"\\u0041\\x41\\n\"",
    "'",
    "}",
    "9223372036854775807",
    "1e400",
    "-0.5",
    "\u{2028}",
    "  CPU:          0.00 cores",
    "  Memory:       512 MiB",
    "{\"cpu_count\":1,\"cpu_used_pct\":1,\"mem_total_mib\":1,\"mem_used_mib\":1,\"timestamp\":1}",
    "\"timestamp\":1e999",
    "null",
];

/// Numbers that are the same in every run with the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or(0)
    }
}

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/inspect/cases");
    let entries = fs::read_dir(folder).expect("the fixtures are there");
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut texts: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| fs::read(path).expect("readable"))
        .collect();
    texts.extend(PIECES.map(|piece| piece.as_bytes().to_vec()));
    texts
}

/// Damages a text in one to eight places.
fn damage(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut text = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(8) {
        let at = random.below(text.len() + 1);
        match random.below(7) {
            0 if at < text.len() => text[at] = random.next().to_le_bytes()[0],
            1 => text.truncate(at),
            2 => {
                let end = at + random.below(text.len() - at + 1);
                text.drain(at..end);
            }
            3 => {
                let piece = PIECES[random.below(PIECES.len())];
                text.splice(at..at, piece.bytes());
            }
            4 => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len());
                text.truncate(at);
                text.extend_from_slice(&other[from..]);
            }
            5 => {
                let end = at + random.below(text.len() - at + 1);
                let part = text[at..end].to_vec();
                text.splice(at..at, part);
            }
            _ if at < text.len() => text[at] ^= 1 << random.below(8),
            _ => text.push(b'\n'),
        }
        text.truncate(1 << 16);
    }
    text
}

fn is_sound(amounts: &SandboxResourceAmounts) -> bool {
    let numbers = [
        amounts.cpu.map(f64::from),
        amounts.memory_mib.map(f64::from),
        amounts.disk_gib.map(f64::from),
    ];
    numbers
        .into_iter()
        .flatten()
        .all(|number| number.is_finite() && number >= 0.0)
}

fn check(text: &[u8]) {
    if let Ok(sample) = metrics::parse(text) {
        let numbers = [
            sample.cpu_count,
            sample.cpu_used_percentage,
            sample.memory_total_mib,
            sample.memory_used_mib,
        ];
        let is_sound = |number: Option<f64>| number.is_some_and(|n| n.is_finite() && n >= 0.0);
        assert!(numbers.into_iter().all(is_sound), "{sample:?}");
    }
    let Ok(inspection) = inspect::parse(&String::from_utf8_lossy(text)) else {
        return;
    };
    let amounts = || {
        let components = inspection.components.iter();
        components.flat_map(|component| [&component.requests, &component.limits])
    };
    assert!(amounts().all(is_sound), "{inspection:?}");
    assert!(
        amounts().any(|amounts| !amounts.is_empty()),
        "{inspection:?}"
    );
}

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for people"
)]
fn main() -> ExitCode {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|argument| argument.parse().ok());
    let Some(Some(seconds)) = arguments.next() else {
        eprintln!("usage: fuzz_readings SECONDS [SEED]");
        return ExitCode::FAILURE;
    };
    let seed = arguments
        .next()
        .flatten()
        .unwrap_or(0x9E37_79B9_7F4A_7C15_u64)
        .max(1);
    let (corpus, mut random) = (corpus(), Random(seed));
    let (started, mut texts, mut slowest) = (Instant::now(), 0_u64, Duration::ZERO);
    while started.elapsed() < Duration::from_secs(seconds) {
        for _ in 0..256 {
            let text = damage(&mut random, &corpus);
            let began = Instant::now();
            check(&text);
            slowest = slowest.max(began.elapsed());
            texts += 1;
        }
    }
    println!("readings: {texts} texts, seed {seed}, the slowest took {slowest:?}");
    ExitCode::SUCCESS
}
