//! How SSH messages are written and read (RFC 4251 §5). Must not know what a message means.

use bytes::Bytes;

/// Bytes that are not the message they claim to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed ssh message")]
pub struct Malformed;

/// Reads a message from its front. What it hands out shares the message's memory.
pub struct Reader {
    rest: Bytes,
}

impl Reader {
    /// Starts at the front of `message`.
    pub fn new(message: Bytes) -> Self {
        Self { rest: message }
    }

    fn take(&mut self, n: usize) -> Result<Bytes, Malformed> {
        if self.rest.len() < n {
            return Err(Malformed);
        }
        Ok(self.rest.split_to(n))
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }

    /// A truth value: anything but zero is true.
    pub fn bool(&mut self) -> Result<bool, Malformed> {
        Ok(self.u8()? != 0)
    }

    /// A big-endian `u32`.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// A big-endian `u64`.
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from(self.u32()?) << 32 | u64::from(self.u32()?))
    }

    /// A byte string with its length in front.
    pub fn string(&mut self) -> Result<Bytes, Malformed> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    /// A string that must be text.
    pub fn text(&mut self) -> Result<String, Malformed> {
        String::from_utf8(self.string()?.to_vec()).map_err(|_| Malformed)
    }

    /// Whatever is left.
    pub fn rest(self) -> Bytes {
        self.rest
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

/// Appends the parts of a message.
pub trait Put {
    /// A big-endian `u32`.
    fn put_u32_be(&mut self, n: u32);
    /// A big-endian `u64`.
    fn put_u64_be(&mut self, n: u64);
    /// A byte string with its length in front.
    fn put_string(&mut self, data: impl AsRef<[u8]>);
    /// A non-negative integer, without leading zeros (RFC 4251 "mpint").
    fn put_mpint(&mut self, magnitude: &[u8]);
}

impl Put for Vec<u8> {
    fn put_u32_be(&mut self, n: u32) {
        self.extend_from_slice(&n.to_be_bytes());
    }

    fn put_u64_be(&mut self, n: u64) {
        self.extend_from_slice(&n.to_be_bytes());
    }

    fn put_string(&mut self, data: impl AsRef<[u8]>) {
        let data = data.as_ref();
        self.put_u32_be(u32::try_from(data.len()).unwrap_or(u32::MAX));
        self.extend_from_slice(data);
    }

    fn put_mpint(&mut self, magnitude: &[u8]) {
        let start = magnitude
            .iter()
            .position(|b| *b != 0)
            .unwrap_or(magnitude.len());
        let digits = &magnitude[start..];
        let sign = usize::from(digits.first().is_some_and(|b| b & 0x80 != 0));
        self.put_u32_be(u32::try_from(digits.len() + sign).unwrap_or(u32::MAX));
        self.extend_from_slice(&[0][..sign]);
        self.extend_from_slice(digits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_many_bytes_have_no_leading_zeros_and_stay_positive() {
        let cases: [(&[u8], &[u8]); 4] = [
            (&[0, 0], &[0, 0, 0, 0]),
            (&[0, 0x12], &[0, 0, 0, 1, 0x12]),
            (&[0x80], &[0, 0, 0, 2, 0, 0x80]),
            (&[0x7f, 1], &[0, 0, 0, 2, 0x7f, 1]),
        ];
        for (magnitude, wire) in cases {
            let mut out = Vec::new();
            out.put_mpint(magnitude);
            assert_eq!(out, wire);
        }
    }

    #[test]
    fn a_string_longer_than_its_message_is_malformed() {
        let mut reader = Reader::new(Bytes::from_static(&[0, 0, 0, 9, b'x']));
        assert_eq!(reader.string(), Err(Malformed));
    }
}
