//! Trace propagation and HTTP spans for tower servers and clients.
