//! The processor's time stamp counter.

/// Reads the counter. Only meaningful where [`is_reliable`] says so.
#[inline]
pub(crate) fn read() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has the instruction, and no kernel that answers `is_reliable` with
    // yes forbids it to user code.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// Whether the counter runs at one speed on all processors and does not stop.
///
/// The processor has to say that it is invariant, and the kernel, which compares the processors' counters all the time,
/// must not have given up on it.
pub(crate) fn is_reliable() -> bool {
    is_invariant() && is_trusted_by_the_kernel()
}

#[cfg(target_arch = "x86_64")]
fn is_invariant() -> bool {
    use core::arch::x86_64::__cpuid;
    const POWER_MANAGEMENT: u32 = 0x8000_0007;
    __cpuid(0x8000_0000).eax >= POWER_MANAGEMENT && __cpuid(POWER_MANAGEMENT).edx & (1 << 8) != 0
}

#[cfg(not(target_arch = "x86_64"))]
fn is_invariant() -> bool {
    false
}

fn is_trusted_by_the_kernel() -> bool {
    let path = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    std::fs::read_to_string(path)
        .is_ok_and(|sources| sources.split_whitespace().any(|source| source == "tsc"))
}
