//! Calls the compiler on single files and compares what it says with what it is to say.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::time::SystemTime;
use std::{env, fs, thread};

use gym_telemetry_api::TELEMETRY_COMPILED_IN;

/// What the compiler's working directory makes of the folder of the cases.
const CASES: &str = "tests/ui/";

/// The compiler, and where it finds the facade as this test was built with it.
pub(crate) struct Compiler {
    libraries: PathBuf,
    facade: PathBuf,
}

impl Compiler {
    pub(crate) fn with_libraries_of_this_test() -> Self {
        let test = env::current_exe().expect("a test is a program");
        let libraries = test.parent().expect("it lies in a folder").to_owned();
        let mut candidates: Vec<(SystemTime, PathBuf)> = fs::read_dir(&libraries)
            .expect("the folder is there")
            .map(|entry| entry.expect("it can be read").path())
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("libgym_telemetry_api-") && name.ends_with(".rlib")
            })
            .map(|path| {
                let built = path.metadata().and_then(|data| data.modified());
                (built.expect("a file has a time"), path)
            })
            .collect();
        candidates.sort();
        // Both builds may lie there; the one that was built last is of today's sources.
        candidates
            .into_iter()
            .rev()
            .map(|(_, facade)| Self {
                libraries: libraries.clone(),
                facade,
            })
            .find(Self::is_of_this_build)
            .expect("the facade that this test is linked with lies beside it")
    }

    fn is_of_this_build(&self) -> bool {
        let probe = Path::new(env!("CARGO_TARGET_TMPDIR")).join("which_build.rs");
        let source = format!(
            "const _: () = assert!(gym_telemetry_api::TELEMETRY_COMPILED_IN == {TELEMETRY_COMPILED_IN});\n\
             fn main() {{}}\n"
        );
        fs::write(&probe, source).expect("the folder is for such files");
        self.check(&probe).status.success()
    }

    /// What is wrong if the compiler accepts a file or words its errors in another way than expected.
    pub(crate) fn refuses(&self, case: &Path) -> Option<String> {
        let shown = case.display();
        let output = self.check(case);
        if output.status.success() {
            return Some(format!("{shown} compiles"));
        }
        let found = normalised(&String::from_utf8_lossy(&output.stderr));
        let path = case.with_extension("stderr");
        if env::var_os("BLESS").is_some() {
            fs::write(&path, found).expect("the folder can be written");
            return None;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        (found != expected).then(|| {
            format!("{shown} is refused in another way.\nexpected:\n{expected}\nfound:\n{found}")
        })
    }

    fn check(&self, source: &Path) -> Output {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        Command::new(compiler)
            .current_dir(root)
            .args(["--edition=2024", "--crate-type=bin", "--crate-name=case"])
            .args(["--emit=metadata", "--color=never", "--diagnostic-width=140"])
            .args(["--allow=unused", "--out-dir"])
            .arg(env!("CARGO_TARGET_TMPDIR"))
            .arg("-L")
            .arg(joined("dependency=", &self.libraries))
            .arg("--extern")
            .arg(joined("gym_telemetry_api=", &self.facade))
            .arg(source.strip_prefix(root).unwrap_or(source))
            .output()
            .expect("the compiler that built this test is there")
    }
}

fn joined(key: &str, path: &Path) -> std::ffi::OsString {
    let mut argument = std::ffi::OsString::from(key);
    argument.push(path);
    argument
}

/// What the compiler says about the case, whatever machine this is and wherever the facade's lines are.
///
/// Of places outside the case only the file stays. Margins, else as wide as the largest line number, have one width.
fn normalised(stderr: &str) -> String {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the package lies two folders below the workspace")
        .to_string_lossy();
    let mut result = String::new();
    let mut is_elsewhere = false;
    let mut is_list = false;
    let mut was_inside = false;
    for line in stderr.lines() {
        let line = line.trim_start();
        let place = place_of(line);
        if place.is_none() && is_elsewhere && is_source(line) {
            continue;
        }
        // Which types implement a trait depends on what else is linked.
        is_list = is_list && place.is_none() && !is_source(line) && !begins_part(line);
        if is_list {
            continue;
        }
        is_list = line.ends_with(':') && line.contains("types implement trait");
        is_elsewhere = place.is_some_and(|(_, place)| !place.starts_with(CASES));
        if was_inside && is_elsewhere {
            was_inside = false;
        } else if let Some((arrow, place)) = place.filter(|_| is_elsewhere) {
            let file = place.split(':').next().unwrap_or(place);
            let file = file_name(file, &workspace);
            result.extend(["   ", arrow, " ", &file, "\n"]);
        } else if is_inside(line) {
            // The place in the next line goes with it.
            was_inside = true;
        } else if !is_summary(line) {
            result.push_str(&aligned(&without_lines_of_the_facade(line)));
            result.push('\n');
        }
    }
    let result = result.trim_end();
    format!("{result}\n")
}

fn place_of(line: &str) -> Option<(&str, &str)> {
    line.split_once(' ')
        .filter(|(arrow, _)| matches!(*arrow, "-->" | ":::"))
}

/// Whether a line shows code, or points at it.
fn is_source(line: &str) -> bool {
    line == "..."
        || line.starts_with(|first: char| "|+-~".contains(first) || first.is_ascii_digit())
}

fn begins_part(line: &str) -> bool {
    line.is_empty()
        || ["= ", "note: ", "help: ", "error"]
            .iter()
            .any(|start| line.starts_with(start))
}

fn file_name(file: &str, workspace: &str) -> String {
    // The sources of the standard library lie in different places, or are not there at all.
    if let Some((_, inside)) = file.split_once("/library/") {
        return format!("$RUST/{inside}");
    }
    file.replace(workspace, "$WORKSPACE")
}

/// `{async block@crates/…/macros.rs:148:9: 148:19}` names a place that moves when the facade is edited.
fn without_lines_of_the_facade(line: &str) -> String {
    const FACADE: &str = "@crates/";
    let mut parts = line.split(FACADE);
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (file, rest) = part.split_once(':').unwrap_or((part, ""));
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':' || c == ' ');
        result.extend([FACADE, file, rest]);
    }
    result
}

fn aligned(line: &str) -> String {
    let number = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    if number > 0 {
        let (number, code) = line.split_at(number);
        format!("{number:>3}{code}")
    } else if line.starts_with('|') || line.starts_with("= ") {
        format!("    {line}")
    } else if place_of(line).is_some() {
        format!("   {line}")
    } else {
        line.to_owned()
    }
}

/// A note that goes through private types one by one.
fn is_inside(line: &str) -> bool {
    line.starts_with("note: required because it appears within the type")
}

fn is_summary(line: &str) -> bool {
    [
        "error: aborting due to",
        "Some errors have detailed explanations",
        "For more information about",
    ]
    .iter()
    .any(|start| line.starts_with(start))
}

/// Calls `work` with every item, on as many threads as the machine has.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = Mutex::new(items.iter());
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(item) = next.lock().expect("no thread panics with it").next() else {
                        break;
                    };
                    let result = work(item);
                    results
                        .lock()
                        .expect("no thread panics with it")
                        .push(result);
                }
            });
        }
    });
    results.into_inner().expect("no thread panics with it")
}
