//! The weather of every city: made up, but always the same.

/// Describes the weather in the city.
pub(crate) fn describe(city: &str) -> String {
    const SKIES: [&str; 5] = ["clear", "cloudy", "fog", "rain", "snow"];
    let seed = city
        .bytes()
        .fold(7_usize, |seed, byte| (seed * 31 + usize::from(byte)) % 997);
    format!("{}, {} °C", SKIES[seed % SKIES.len()], seed % 35)
}
