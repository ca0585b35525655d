//! The block in files and texts of each format.

mod fields;
mod files;

use gym_telemetry_core::config::{ConfigError, ConfigFormat, ConfigSource};

use super::block::Loaded;
use super::{lenient, strict};
use crate::test_env::Vars;

/// What both readers make of a text; they must agree where both accept it.
fn load(text: &str, format: ConfigFormat, vars: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
    let source = ConfigSource::text(text, format);
    let env = Vars::new(vars);
    let strict = strict(&source, &env);
    let lenient = lenient(&source, &env);
    if let (Ok(strict), Ok(lenient)) = (&strict, &lenient) {
        assert_eq!(strict.config, lenient.config, "{text}");
        assert_eq!(strict.warnings, lenient.warnings, "{text}");
    }
    strict
}
