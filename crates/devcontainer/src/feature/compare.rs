//! When two Features are the same, when one is what another waits for, and which of two comes first (spec §6.9).

use std::cmp::Ordering;

use super::collate::collate;
use super::reference::{Oci, Reference, Version};
use crate::json::Value;

/// What comparing needs to know of a Feature.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    /// Its reference as written.
    pub(super) user_id: String,
    /// The same, read.
    pub(super) reference: Reference,
    /// The options that it is installed with.
    pub(super) options: Value,
    /// The digest of its manifest, if it is in a registry and known.
    pub(super) digest: Option<String>,
    /// Its id today and those it had; empty as long as nothing is known of it.
    pub(super) aliases: Vec<String>,
}

impl Identity {
    /// The same place and the same options.
    pub(super) fn equals(&self, other: &Self) -> bool {
        same_kind(&self.reference, &other.reference) && self.compare(other) == Ordering::Equal
    }

    /// Whether this Feature is what `wanted` names, whatever the version and the options.
    pub(super) fn is_what(&self, wanted: &Self) -> bool {
        match (&self.reference, &wanted.reference) {
            (Reference::Oci(own), Reference::Oci(theirs)) => {
                let mut aliases = wanted.aliases.iter();
                own.resource() == theirs.resource()
                    || (own.collection() == theirs.collection()
                        && aliases.any(|alias| *alias == own.id))
            }
            (own, theirs) => own == theirs,
        }
    }

    /// Whether what `wanted` names could be this Feature, if `wanted` turns out to have other names.
    pub(super) fn could_be(&self, wanted: &Self) -> bool {
        match (&self.reference, &wanted.reference) {
            (Reference::Oci(own), Reference::Oci(theirs)) => {
                own.collection() == theirs.collection()
            }
            _ => false,
        }
    }

    /// Which of two Features that may be installed now comes first.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let options = || compare_options(&self.options, &other.options);
        match (&self.reference, &other.reference) {
            (Reference::Oci(a), Reference::Oci(b)) => {
                let digests = (self.digest.as_deref(), other.digest.as_deref());
                if let (Some(a), Some(b)) = digests
                    && a == b
                    && options() == Ordering::Equal
                {
                    return Ordering::Equal;
                }
                collate(&a.collection(), &b.collection())
                    .then_with(|| self.compare_ids(a, other, b))
                    .then_with(|| match (&a.version, &b.version) {
                        (Version::Tag(a), Version::Tag(b)) => collate(a, b),
                        _ => Ordering::Equal,
                    })
                    .then_with(options)
                    .then_with(|| {
                        let (a, b) = digests;
                        collate(a.unwrap_or_default(), b.unwrap_or_default())
                    })
            }
            (Reference::Local(a), Reference::Local(b)) => collate(a, b).then_with(options),
            (Reference::Tarball { url: a, .. }, Reference::Tarball { url: b, .. }) => {
                collate(a, b).then_with(options)
            }
            _ => collate(&self.user_id, &other.user_id),
        }
    }

    fn compare_ids(&self, a: &Oci, other: &Self, b: &Oci) -> Ordering {
        let mut aliases = self.aliases.iter();
        if a.id == b.id || aliases.any(|alias| other.aliases.contains(alias)) {
            return Ordering::Equal;
        }
        collate(&a.id, &b.id)
    }
}

fn same_kind(a: &Reference, b: &Reference) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// Options by their type, then fewer before more, then key by key, then value by value.
pub(super) fn compare_options(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::String(a), Value::String(b)) => collate(a, b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Object(a), Value::Object(b)) => {
            let sorted = |object: &crate::json::Object| {
                let mut keys: Vec<String> = object.keys().cloned().collect();
                // By units of UTF-16, as JavaScript sorts.
                keys.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
                keys
            };
            let (keys_a, keys_b) = (sorted(a), sorted(b));
            let keys = || keys_a.iter().zip(&keys_b);
            a.len()
                .cmp(&b.len())
                .then_with(|| {
                    let mut orders = keys().map(|(a, b)| collate(a, b));
                    orders.find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
                })
                .then_with(|| {
                    let mut orders = keys().map(|(x, y)| compare_values(&a[x], &b[y]));
                    orders.find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
                })
        }
        (a, b) => type_name(a).cmp(type_name(b)),
    }
}

/// Values of options: what is neither two texts nor two booleans counts as equal.
fn compare_values(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::String(a), Value::String(b)) => collate(a, b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        _ => Ordering::Equal,
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Null | Value::Array(_) | Value::Object(_) => "object",
    }
}
