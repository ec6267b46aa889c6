//! What a configuration asks of the machine: `hostRequirements` (spec §2.4, §8.3).

use crate::json::{Object, Value};

/// What is asked of the machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostRequirements {
    /// Processors.
    pub cpus: Option<u64>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Disk in bytes.
    pub storage_bytes: Option<u64>,
    /// Graphics processors.
    pub gpu: Gpu,
}

/// Whether graphics processors are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gpu {
    /// No.
    #[default]
    None,
    /// If there are some.
    Optional,
    /// Yes.
    Required {
        /// How many cores.
        cores: Option<u64>,
        /// How much memory, in bytes.
        memory_bytes: Option<u64>,
    },
}

impl HostRequirements {
    /// Reads what has the right form and passes over the rest.
    pub fn read(object: &Object) -> Self {
        let size = |key| object.get(key).and_then(size_of);
        Self {
            cpus: object.get("cpus").and_then(whole).filter(|cpus| *cpus > 0),
            memory_bytes: size("memory"),
            storage_bytes: size("storage"),
            gpu: object.get("gpu").map(Gpu::read).unwrap_or_default(),
        }
    }
}

impl Gpu {
    /// Reads the value of `gpu`. An empty object asks for one.
    pub fn read(value: &Value) -> Self {
        match value {
            Value::Bool(true) => Self::Required {
                cores: None,
                memory_bytes: None,
            },
            Value::String(text) if text == "optional" => Self::Optional,
            Value::Object(object) => Self::Required {
                cores: object.get("cores").and_then(whole).filter(|n| *n > 0),
                memory_bytes: object.get("memory").and_then(size_of),
            },
            _ => Self::None,
        }
    }
}

fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        _ => None,
    }
}

/// The bytes of a size that is not nothing.
fn size_of(value: &Value) -> Option<u64> {
    value.as_str().and_then(bytes).filter(|bytes| *bytes > 0)
}

/// The bytes of digits with one of the units `tb`, `gb`, `mb`, `kb` or none; `None` for any other text. 1 kb is 1024.
pub fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let power = match &text[digits.len()..] {
        "" => 0,
        "kb" => 1,
        "mb" => 2,
        "gb" => 3,
        "tb" => 4,
        _ => return None,
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(1024u64.pow(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_digits_and_a_unit_in_small_letters() {
        let table = [
            ("10", Some(10)),
            ("8gb", Some(8 << 30)),
            ("4096mb", Some(4 << 30)),
            ("1tb", Some(1 << 40)),
            ("2kb", Some(2048)),
            ("8 GB", None),
            ("8GB", None),
            ("gb", None),
            ("1.5gb", None),
            ("-1gb", None),
            ("99999999999999999999tb", None),
        ];
        for (text, expected) in table {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }
}
