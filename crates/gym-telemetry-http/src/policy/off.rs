//! Nothing is sent, so nothing is decided.

#[derive(Clone, Debug, Default)]
pub(super) struct KnownHosts(());

impl KnownHosts {
    #[expect(clippy::unused_self, reason = "the other build keeps the host")]
    pub(super) fn add(&mut self, _url: &str) {}
}
