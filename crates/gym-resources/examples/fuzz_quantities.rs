//! Feeds the readers of quantities with damaged and made-up ones, for as many seconds as are given.
//!
//! `cargo xtask fuzz` runs it. It fails when a reader panics, when an amount is negative or not finite, when Kubernetes'
//! own form of an amount is not read back as at least that amount, or when a refused text is read after all with a
//! space before it.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use gym_resources::{
    Cores, Gibibytes, Mebibytes, cpu_limit_v1, cpu_limit_v2, gpu_count_from_quantity, memory_limit,
};

const PIECES: [&str; 33] = [
    "0",
    "1",
    "9",
    "12",
    "100",
    "999999999",
    ".",
    "-",
    "+",
    "e",
    "E",
    "e3",
    "E-2",
    "n",
    "u",
    "m",
    "k",
    "M",
    "G",
    "T",
    "P",
    "Ki",
    "Mi",
    "Gi",
    "Ti",
    "Pi",
    "Ei",
    "max",
    " ",
    "mb",
    "2147483648",
    "9223372036854771712",
    "\u{0661}",
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

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}

fn text(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(7) {
        match random.below(12) {
            0 => text.push(
                char::from_u32(u32::try_from(random.below(0x3000)).unwrap_or(65)).unwrap_or('x'),
            ),
            1 => text.push_str(&random.next().to_string()),
            // Long, now and then.
            2 if random.below(64) == 0 => text.push_str(&"7".repeat(4096)),
            _ => {
                let index = usize::try_from(random.below(PIECES.len() as u64)).unwrap_or(0);
                text.push_str(PIECES[index]);
            }
        }
    }
    text
}

fn check(text: &str) {
    let (cpu, memory) = (Cores::from_quantity(text), Mebibytes::from_quantity(text));
    let disk = Gibibytes::from_quantity(text);
    let amounts = [
        cpu.clone().ok().map(f64::from),
        memory.clone().ok().map(f64::from),
        disk.ok().map(f64::from),
        Mebibytes::from_docker_size(text).ok().map(f64::from),
        Gibibytes::from_docker_size(text).ok().map(f64::from),
        memory_limit(text).ok().flatten().map(f64::from),
        cpu_limit_v2(text).ok().flatten().map(f64::from),
        cpu_limit_v1(text, text).ok().flatten().map(f64::from),
    ];
    for amount in amounts.into_iter().flatten() {
        assert!(amount.is_finite() && amount >= 0.0, "{text:?}: {amount}");
    }
    let _ = gpu_count_from_quantity(text);
    if let Ok(cpu) = cpu {
        let written = cpu.to_quantity();
        let back = Cores::from_quantity(&written);
        // Kubernetes has no form below a billionth and rounds up.
        assert!(
            back.as_ref().is_ok_and(|back| *back >= cpu),
            "{text:?}: {written:?} {back:?}"
        );
    } else {
        assert!(
            Cores::from_quantity(&format!(" {text}")).is_err(),
            "{text:?}"
        );
    }
    if let Ok(memory) = memory {
        let written = memory.to_quantity();
        let back = Mebibytes::from_quantity(&written);
        assert!(back.is_ok(), "{text:?}: {written:?} {back:?}");
    }
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
        eprintln!("usage: fuzz_quantities SECONDS [SEED]");
        return ExitCode::FAILURE;
    };
    let seed = arguments
        .next()
        .flatten()
        .unwrap_or(0x9E37_79B9_7F4A_7C15_u64)
        .max(1);
    let mut random = Random(seed);
    let (started, mut texts, mut slowest) = (Instant::now(), 0_u64, Duration::ZERO);
    while started.elapsed() < Duration::from_secs(seconds) {
        for _ in 0..1024 {
            let text = text(&mut random);
            let began = Instant::now();
            check(&text);
            slowest = slowest.max(began.elapsed());
            texts += 1;
        }
    }
    println!("quantities: {texts} texts, seed {seed}, the slowest took {slowest:?}");
    ExitCode::SUCCESS
}
