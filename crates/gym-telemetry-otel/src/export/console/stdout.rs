//! Whole lines on standard output.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::AsFd;

use super::super::report::Cause;

/// Set once the reader has gone: nobody will read the rest either.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Writes `line` and a line break, with no other output of this process inside.
///
/// It is one system call, so that lines of up to 4 KiB also stay whole where several processes share a pipe.
/// Rust's buffer of standard output is not used, only its lock: an unfinished line of the host that waits in the
/// buffer would become the start of ours.
pub(super) fn write_line(mut line: String) -> Result<(), Cause> {
    if CLOSED.load(Ordering::Relaxed) {
        return Err(Cause::OutputClosed);
    }
    line.push('\n');
    let stdout = io::stdout().lock();
    write_all(&stdout, line.as_bytes()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => {
            CLOSED.store(true, Ordering::Relaxed);
            Cause::OutputClosed
        }
        kind => Cause::OutputFailed(kind),
    })
}

/// Whether nobody reads standard output any more.
pub(in crate::export) fn is_closed() -> bool {
    if CLOSED.load(Ordering::Relaxed) {
        return true;
    }
    let stdout = io::stdout();
    let mut states = [PollFd::new(&stdout, PollFlags::OUT)];
    let now = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let is_known = poll(&mut states, Some(&now)).is_ok();
    let is_closed = is_known
        && states[0]
            .revents()
            .intersects(PollFlags::ERR | PollFlags::NVAL);
    if is_closed {
        CLOSED.store(true, Ordering::Relaxed);
    }
    is_closed
}

fn write_all(output: &impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(output, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            // Another holder of the same pipe or terminal has made it non-blocking.
            Err(rustix::io::Errno::AGAIN) => {
                poll(&mut [PollFd::new(output, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
