//! The inspection of the Kubernetes runtime.
//!
//! A terminated container's message is written by the sandboxed program and printed as it is, line breaks
//! included. It stands after the header and before the last section, so only these two are read: the lines up
//! to the first blank one, and what follows the last `Resources:` line to the very end of the text.

use gym_resources::{Cores, Gibibytes, Mebibytes, SandboxResourceAmounts, gpu_count_from_quantity};

use super::{Inspection, header, repr};
use crate::allocation::{Component, DesignatorKind};
use crate::unavailable::Unavailable;

pub(super) fn parse(lines: &[&str]) -> Result<Inspection, Unavailable> {
    let header_end = lines
        .iter()
        .position(|line| line.is_empty())
        .ok_or(Unavailable::UnrecognizedResponse)?;
    let (head, rest) = lines.split_at(header_end);
    let section = rest
        .windows(2)
        .rposition(|pair| pair == ["", "Resources:"])
        .map(|blank| &rest[blank + 2..])
        .ok_or(Unavailable::UnrecognizedResponse)?;
    let (pod, namespace) = (identity(head, "Pod Name"), identity(head, "Namespace"));
    Ok(Inspection {
        components: components(section)?,
        designator: namespace.zip(pod).map(|(namespace, pod)| {
            (
                DesignatorKind::Kubernetes,
                format!("namespaces/{namespace}/pods/{pod}"),
            )
        }),
        node: identity(head, "Node").map(str::to_owned),
    })
}

/// Returns a header field unless it is one of the texts that stand for a missing value.
fn identity<'a>(head: &[&'a str], key: &str) -> Option<&'a str> {
    header(head, key).filter(|value| !matches!(*value, "" | "None" | "N/A"))
}

fn components(section: &[&str]) -> Result<Vec<Component>, Unavailable> {
    let mut components: Vec<Component> = Vec::new();
    // What the component read last may still be followed by.
    let mut expects = Expects::Component;
    for line in section {
        if let Some(rest) = line.strip_prefix("    ") {
            let component = components
                .last_mut()
                .ok_or(Unavailable::UnrecognizedResponse)?;
            if let (Some(map), Expects::Requests) = (rest.strip_prefix("Requests: "), expects) {
                component.requests = amounts(map)?;
                expects = Expects::Limits;
            } else if let (Some(map), Expects::Requests | Expects::Limits) =
                (rest.strip_prefix("Limits:   "), expects)
            {
                component.limits = amounts(map)?;
                expects = Expects::Component;
            } else {
                return Err(Unavailable::UnrecognizedResponse);
            }
        } else {
            let name = line
                .strip_prefix("  ")
                .and_then(|rest| rest.strip_suffix(':'))
                .filter(|name| !name.is_empty())
                .ok_or(Unavailable::UnrecognizedResponse)?;
            components.push(Component {
                name: name.to_owned(),
                ..Component::default()
            });
            expects = Expects::Requests;
        }
    }
    Ok(components)
}

#[derive(Clone, Copy)]
enum Expects {
    Requests,
    Limits,
    Component,
}

/// Reads a map of resource names to quantities. Names that the vocabulary does not have are left out.
fn amounts(map: &str) -> Result<SandboxResourceAmounts, Unavailable> {
    let mut amounts = SandboxResourceAmounts::default();
    for (name, quantity) in repr::string_map(map).ok_or(Unavailable::UnrecognizedResponse)? {
        let malformed = |_| Unavailable::MalformedQuantity;
        match name.as_str() {
            "cpu" => once(
                &mut amounts.cpu,
                Cores::from_quantity(&quantity).map_err(malformed)?,
            )?,
            "memory" => once(
                &mut amounts.memory_mib,
                Mebibytes::from_quantity(&quantity).map_err(malformed)?,
            )?,
            "ephemeral-storage" => {
                once(
                    &mut amounts.disk_gib,
                    Gibibytes::from_quantity(&quantity).map_err(malformed)?,
                )?;
            }
            // The server writes its portable `gpu` as `nvidia.com/gpu`, and as no other vendor's name.
            "gpu" | "nvidia.com/gpu" => {
                once(
                    &mut amounts.gpu,
                    gpu_count_from_quantity(&quantity).map_err(malformed)?,
                )?;
            }
            _ => {}
        }
    }
    Ok(amounts)
}

/// Sets a resource that must not be there twice.
fn once<T>(field: &mut Option<T>, value: T) -> Result<(), Unavailable> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(Unavailable::UnrecognizedResponse),
    }
}
