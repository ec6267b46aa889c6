//! Packet encryption: the authenticated ciphers that OpenSSH and Go clients speak.
//! Must not know what packets carry.
//!
//! A packet in memory is `length (4) | padding length (1) | payload | padding`, then a tag of
//! [`TAG`] bytes once sealed.

use ring::aead::{self, LessSafeKey, Nonce, UnboundKey, chacha20_poly1305_openssh as chacha};

/// Bytes of authentication after each packet.
pub const TAG: usize = 16;

/// A packet that was not made with our keys.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("packet authentication failed")]
pub struct Forged;

/// The ciphers that we offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    /// `aes256-gcm@openssh.com`
    Aes256Gcm,
    /// `aes128-gcm@openssh.com`
    Aes128Gcm,
    /// `chacha20-poly1305@openssh.com`
    ChaCha20Poly1305,
}

impl Cipher {
    /// The cipher with this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "aes256-gcm@openssh.com" => Some(Self::Aes256Gcm),
            "aes128-gcm@openssh.com" => Some(Self::Aes128Gcm),
            "chacha20-poly1305@openssh.com" => Some(Self::ChaCha20Poly1305),
            _ => None,
        }
    }

    /// Bytes of key material.
    pub fn key_len(self) -> usize {
        match self {
            Self::Aes256Gcm => 32,
            Self::Aes128Gcm => 16,
            Self::ChaCha20Poly1305 => 64,
        }
    }
}

/// AES-GCM with the nonce counting up from the negotiated start (RFC 5647 §7.1).
struct Gcm {
    key: LessSafeKey,
    fixed: [u8; 4],
    counter: u64,
}

impl Gcm {
    fn new(algorithm: &'static aead::Algorithm, key: &[u8], iv: &[u8]) -> Self {
        let mut fixed = [0; 4];
        fixed.copy_from_slice(&iv[..4]);
        let mut counter = [0; 8];
        counter.copy_from_slice(&iv[4..12]);
        Self {
            key: LessSafeKey::new(
                UnboundKey::new(algorithm, key).expect("the key has the cipher's length"),
            ),
            fixed,
            counter: u64::from_be_bytes(counter),
        }
    }

    fn nonce(&mut self) -> Nonce {
        let mut nonce = [0; 12];
        nonce[..4].copy_from_slice(&self.fixed);
        nonce[4..].copy_from_slice(&self.counter.to_be_bytes());
        self.counter = self.counter.wrapping_add(1);
        Nonce::assume_unique_for_key(nonce)
    }
}

fn gcm(cipher: Cipher, key: &[u8], iv: &[u8]) -> Gcm {
    let algorithm = match cipher {
        Cipher::Aes128Gcm => &aead::AES_128_GCM,
        _ => &aead::AES_256_GCM,
    };
    Gcm::new(algorithm, key, iv)
}

fn chacha_key(key: &[u8]) -> [u8; chacha::KEY_LEN] {
    let mut material = [0; chacha::KEY_LEN];
    material.copy_from_slice(key);
    material
}

/// Encrypts what we send. Starts in the clear until keys are agreed.
#[derive(Default)]
pub struct Sealer(SealerKind);

#[derive(Default)]
enum SealerKind {
    #[default]
    Clear,
    Gcm(Box<Gcm>),
    ChaCha(Box<chacha::SealingKey>),
}

impl Sealer {
    /// Seals with `key`; `iv` is the first nonce where the cipher has one.
    pub fn new(cipher: Cipher, key: &[u8], iv: &[u8]) -> Self {
        Self(match cipher {
            Cipher::ChaCha20Poly1305 => {
                SealerKind::ChaCha(Box::new(chacha::SealingKey::new(&chacha_key(key))))
            }
            gcm_cipher => SealerKind::Gcm(Box::new(gcm(gcm_cipher, key, iv))),
        })
    }

    /// How many bytes of padding a payload of `n` bytes needs.
    pub fn padding(&self, n: usize) -> usize {
        let (counted, block) = match self.0 {
            SealerKind::Clear => (5 + n, 8),
            SealerKind::Gcm(_) => (1 + n, 16),
            SealerKind::ChaCha(_) => (1 + n, 8),
        };
        let padding = block - counted % block;
        if padding < 4 {
            padding + block
        } else {
            padding
        }
    }

    /// Encrypts the packet that starts at `start` and ends with `out`, and appends its tag.
    pub fn seal(&mut self, sequence: u32, out: &mut Vec<u8>, start: usize) {
        match &mut self.0 {
            SealerKind::Clear => {}
            SealerKind::Gcm(gcm) => {
                let nonce = gcm.nonce();
                let (length, body) = out[start..].split_at_mut(4);
                let aad = aead::Aad::from(&*length);
                let tag = gcm
                    .key
                    .seal_in_place_separate_tag(nonce, aad, body)
                    .expect("a packet is far below the cipher's limit");
                out.extend_from_slice(tag.as_ref());
            }
            SealerKind::ChaCha(key) => {
                let mut tag = [0; TAG];
                key.seal_in_place(sequence, &mut out[start..], &mut tag);
                out.extend_from_slice(&tag);
            }
        }
    }
}

/// Decrypts what we receive. Starts in the clear until keys are agreed.
#[derive(Default)]
pub struct Opener(OpenerKind);

#[derive(Default)]
enum OpenerKind {
    #[default]
    Clear,
    Gcm(Box<Gcm>),
    ChaCha(Box<chacha::OpeningKey>),
}

impl Opener {
    /// Opens with `key`; `iv` is the first nonce where the cipher has one.
    pub fn new(cipher: Cipher, key: &[u8], iv: &[u8]) -> Self {
        Self(match cipher {
            Cipher::ChaCha20Poly1305 => {
                OpenerKind::ChaCha(Box::new(chacha::OpeningKey::new(&chacha_key(key))))
            }
            gcm_cipher => OpenerKind::Gcm(Box::new(gcm(gcm_cipher, key, iv))),
        })
    }

    /// The length of the packet whose first four bytes are `head`.
    pub fn length(&self, sequence: u32, head: [u8; 4]) -> u32 {
        u32::from_be_bytes(match &self.0 {
            OpenerKind::ChaCha(key) => key.decrypt_packet_length(sequence, head),
            _ => head,
        })
    }

    /// Bytes after each packet.
    pub fn tag_len(&self) -> usize {
        match self.0 {
            OpenerKind::Clear => 0,
            _ => TAG,
        }
    }

    /// Decrypts a whole packet with its tag in place.
    ///
    /// # Errors
    /// When the tag does not fit the packet.
    pub fn open(&mut self, sequence: u32, packet: &mut [u8]) -> Result<(), Forged> {
        match &mut self.0 {
            OpenerKind::Clear => {}
            OpenerKind::Gcm(gcm) => {
                let nonce = gcm.nonce();
                let (length, body) = packet.split_at_mut(4);
                gcm.key
                    .open_in_place(nonce, aead::Aad::from(&*length), body)
                    .map_err(|_| Forged)?;
            }
            OpenerKind::ChaCha(key) => {
                let (body, tag) = packet.split_last_chunk_mut::<TAG>().ok_or(Forged)?;
                key.open_in_place(sequence, body, tag).map_err(|_| Forged)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sealer: &Sealer, payload: &[u8]) -> Vec<u8> {
        let padding = sealer.padding(payload.len());
        let length = u32::try_from(1 + payload.len() + padding).unwrap();
        let mut out = length.to_be_bytes().to_vec();
        out.push(u8::try_from(padding).unwrap());
        out.extend_from_slice(payload);
        out.resize(out.len() + padding, 0);
        out
    }

    #[test]
    fn every_cipher_opens_what_it_sealed_and_refuses_a_changed_packet() {
        for cipher in [
            Cipher::Aes256Gcm,
            Cipher::Aes128Gcm,
            Cipher::ChaCha20Poly1305,
        ] {
            let key = vec![7; cipher.key_len()];
            let mut sealer = Sealer::new(cipher, &key, &[9; 12]);
            let mut opener = Opener::new(cipher, &key, &[9; 12]);
            for sequence in 3..6 {
                let mut sealed = packet(&sealer, b"some payload");
                let plain = sealed.clone();
                sealer.seal(sequence, &mut sealed, 0);
                let head = [sealed[0], sealed[1], sealed[2], sealed[3]];
                assert_eq!(
                    opener.length(sequence, head) as usize + 4 + TAG,
                    sealed.len()
                );
                opener.open(sequence, &mut sealed).unwrap();
                assert_eq!(sealed[4..plain.len()], plain[4..]);
            }
            let mut sealed = packet(&sealer, b"x");
            sealer.seal(6, &mut sealed, 0);
            sealed[6] ^= 1;
            assert!(opener.open(6, &mut sealed).is_err());
        }
    }
}
