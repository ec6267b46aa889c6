//! Agreeing on keys with a client (RFC 4253 §7, §8). Must not send or receive by itself.
//!
//! Only modern methods: hybrid ML-KEM with X25519, X25519, and P-256; one Ed25519 host key.

use super::cipher::{Cipher, Opener, Sealer};
use super::wire::{Malformed, Put as _, Reader};
use bytes::Bytes;
use ml_kem::{EncapsulationKey, MlKem768, TryKeyInit as _};
use ring::agreement::{self, EphemeralPrivateKey, UnparsedPublicKey, X25519};
use ring::digest::{Context, SHA256};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{Ed25519KeyPair, KeyPair as _};

/// Message numbers of this phase.
pub const KEXINIT: u8 = 20;
/// The client and server switch to the new keys.
pub const NEWKEYS: u8 = 21;
/// The client's half of the exchange.
pub const KEX_INIT: u8 = 30;
/// Our half of the exchange.
const KEX_REPLY: u8 = 31;

const HYBRID: &str = "mlkem768x25519-sha256";
const METHODS: [&str; 4] = [
    HYBRID,
    "curve25519-sha256",
    "curve25519-sha256@libssh.org",
    "ecdh-sha2-nistp256",
];
const HOST_KEY: &str = "ssh-ed25519";
const STRICT_CLIENT: &str = "kex-strict-c-v00@openssh.com";
const STRICT_SERVER: &str = "kex-strict-s-v00@openssh.com";
const MLKEM_KEY: usize = 1184;

/// Why no keys were agreed.
#[derive(Debug, thiserror::Error)]
pub enum KexError {
    /// The client shares no algorithm with us.
    #[error("the client and this server share no {0}")]
    NothingInCommon(&'static str),
    /// The client's message cannot be used.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The client's key is not one, or the random source failed.
    #[error("key agreement failed")]
    Crypto,
}

/// Which ciphers to offer to a client. The client's order decides, and OpenSSH puts ChaCha20 first
/// though AES-GCM is several times faster here, so clients that surely have AES-GCM see only that.
pub fn ciphers_for(client_version: &str) -> &'static [&'static str] {
    let has_gcm = ["SSH-2.0-OpenSSH_", "SSH-2.0-Go", "SSH-2.0-russh"]
        .iter()
        .any(|prefix| client_version.starts_with(prefix));
    if has_gcm && aes_in_hardware() {
        &["aes256-gcm@openssh.com", "aes128-gcm@openssh.com"]
    } else if aes_in_hardware() {
        &[
            "aes256-gcm@openssh.com",
            "aes128-gcm@openssh.com",
            "chacha20-poly1305@openssh.com",
        ]
    } else {
        &[
            "chacha20-poly1305@openssh.com",
            "aes256-gcm@openssh.com",
            "aes128-gcm@openssh.com",
        ]
    }
}

fn aes_in_hardware() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("aes")
    }
    #[cfg(target_arch = "aarch64")]
    {
        std::arch::is_aarch64_feature_detected!("aes")
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        false
    }
}

/// Our offer, to be sent and to be kept for [`Exchange::new`].
///
/// # Errors
/// When the random source fails.
pub fn offer(ciphers: &[&str], first: bool) -> Result<Bytes, KexError> {
    let mut cookie = [0; 16];
    SystemRandom::new()
        .fill(&mut cookie)
        .map_err(|_| KexError::Crypto)?;
    let mut methods = METHODS.join(",");
    if first {
        methods = format!("{methods},{STRICT_SERVER}");
    }
    let ciphers = ciphers.join(",");
    // The ciphers authenticate by themselves; a MAC is named because some clients want to see one.
    let macs = "hmac-sha2-256-etm@openssh.com,hmac-sha2-256";
    let mut out = vec![KEXINIT];
    out.extend_from_slice(&cookie);
    for list in [
        &methods, HOST_KEY, &ciphers, &ciphers, macs, macs, "none", "none", "", "",
    ] {
        out.put_string(list);
    }
    out.push(0);
    out.put_u32_be(0);
    Ok(out.into())
}

/// What both sides chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    /// The name of the key agreement method.
    method: String,
    from_client: Cipher,
    to_client: Cipher,
    /// Sequence numbers restart with new keys, and nothing foreign may come in between.
    pub strict: bool,
    /// The client's next message is a guess that was wrong and must be ignored.
    pub skip_guess: bool,
}

/// Chooses the client's first preference that we offered, for each kind.
///
/// # Errors
/// When there is nothing in common.
pub fn agree(client: &Bytes, offered_ciphers: &[&str]) -> Result<Agreed, KexError> {
    let mut reader = Reader::new(client.slice(17.min(client.len())..));
    let mut lists = Vec::with_capacity(10);
    for _ in 0..10 {
        lists.push(reader.text()?);
    }
    let follows = reader.bool()?;
    let choose = |list: &str, ours: &[&str]| {
        list.split(',')
            .find(|name| ours.contains(name))
            .map(str::to_owned)
    };
    let method =
        choose(&lists[0], &METHODS).ok_or(KexError::NothingInCommon("key exchange method"))?;
    choose(&lists[1], &[HOST_KEY]).ok_or(KexError::NothingInCommon("host key type"))?;
    let cipher = |list: &str| choose(list, offered_ciphers).and_then(|name| Cipher::named(&name));
    let from_client = cipher(&lists[2]).ok_or(KexError::NothingInCommon("cipher"))?;
    let to_client = cipher(&lists[3]).ok_or(KexError::NothingInCommon("cipher"))?;
    for list in &lists[6..8] {
        choose(list, &["none"]).ok_or(KexError::NothingInCommon("compression"))?;
    }
    let guessed_right = lists[0].split(',').next() == Some(METHODS[0])
        && lists[1].split(',').next() == Some(HOST_KEY);
    Ok(Agreed {
        method,
        from_client,
        to_client,
        strict: lists[0].split(',').any(|name| name == STRICT_CLIENT),
        skip_guess: follows && !guessed_right,
    })
}

/// The texts that the signature covers besides the keys.
pub struct Transcript<'a> {
    /// The client's version line.
    pub client_version: &'a str,
    /// Our version line.
    pub server_version: &'a str,
    /// The client's offer.
    pub client_offer: &'a [u8],
    /// Our offer.
    pub server_offer: &'a [u8],
}

/// Keys for both directions, and the message that lets the client compute the same.
pub struct Keys {
    /// The reply to send before the switch.
    pub reply: Vec<u8>,
    /// The hash of this exchange; that of the first one names the session for ever.
    pub hash: Vec<u8>,
    /// For what we send.
    pub sealer: Sealer,
    /// For what we receive.
    pub opener: Opener,
}

/// A shared secret in the form that the method hashes it.
struct Secret {
    encoded: Vec<u8>,
    ours: Vec<u8>,
}

fn agree_on(
    algorithm: &'static agreement::Algorithm,
    theirs: &[u8],
) -> Result<(Vec<u8>, Vec<u8>), KexError> {
    let rng = SystemRandom::new();
    let private = EphemeralPrivateKey::generate(algorithm, &rng).map_err(|_| KexError::Crypto)?;
    let public = private
        .compute_public_key()
        .map_err(|_| KexError::Crypto)?
        .as_ref()
        .to_vec();
    let secret = agreement::agree_ephemeral(
        private,
        &UnparsedPublicKey::new(algorithm, theirs),
        <[u8]>::to_vec,
    )
    .map_err(|_| KexError::Crypto)?;
    Ok((secret, public))
}

fn secret(method: &str, theirs: &[u8]) -> Result<Secret, KexError> {
    let mut encoded = Vec::new();
    if method == HYBRID {
        let (mlkem, x25519) = theirs.split_at_checked(MLKEM_KEY).ok_or(Malformed)?;
        let key =
            EncapsulationKey::<MlKem768>::new_from_slice(mlkem).map_err(|_| KexError::Crypto)?;
        let mut seed = [0; 32];
        SystemRandom::new()
            .fill(&mut seed)
            .map_err(|_| KexError::Crypto)?;
        let (ciphertext, first) = key.encapsulate_deterministic(&seed.into());
        let (second, public) = agree_on(&X25519, x25519)?;
        let mut hash = Context::new(&SHA256);
        hash.update(&first);
        hash.update(&second);
        encoded.put_string(hash.finish());
        let ours = [&ciphertext[..], &public].concat();
        return Ok(Secret { encoded, ours });
    }
    let algorithm = match method {
        "ecdh-sha2-nistp256" => &agreement::ECDH_P256,
        _ => &X25519,
    };
    let (shared, ours) = agree_on(algorithm, theirs)?;
    encoded.put_mpint(&shared);
    Ok(Secret { encoded, ours })
}

/// Answers the client's half of an exchange. `session` is the first exchange's hash, if there was one.
///
/// # Errors
/// When the client's key cannot be used.
pub fn exchange(
    agreed: &Agreed,
    transcript: &Transcript<'_>,
    host_key: &Ed25519KeyPair,
    session: Option<&[u8]>,
    client_half: &Bytes,
) -> Result<Keys, KexError> {
    let mut reader = Reader::new(client_half.slice(1..));
    let theirs = reader.string()?;
    let secret = secret(&agreed.method, &theirs)?;

    let mut host_key_blob = Vec::new();
    host_key_blob.put_string(HOST_KEY);
    host_key_blob.put_string(host_key.public_key());

    let mut covered = Vec::new();
    covered.put_string(transcript.client_version);
    covered.put_string(transcript.server_version);
    covered.put_string(transcript.client_offer);
    covered.put_string(transcript.server_offer);
    covered.put_string(&host_key_blob);
    covered.put_string(&theirs);
    covered.put_string(&secret.ours);
    covered.extend_from_slice(&secret.encoded);
    let hash = ring::digest::digest(&SHA256, &covered).as_ref().to_vec();

    let mut signature = Vec::new();
    signature.put_string(HOST_KEY);
    signature.put_string(host_key.sign(&hash));

    let mut reply = vec![KEX_REPLY];
    reply.put_string(&host_key_blob);
    reply.put_string(&secret.ours);
    reply.put_string(&signature);

    let session = session.unwrap_or(&hash).to_vec();
    let derive = |letter: u8, length: usize| {
        let mut key = Vec::new();
        while key.len() < length {
            let mut context = Context::new(&SHA256);
            context.update(&secret.encoded);
            context.update(&hash);
            if key.is_empty() {
                context.update(&[letter]);
                context.update(&session);
            } else {
                context.update(&key);
            }
            key.extend_from_slice(context.finish().as_ref());
        }
        key.truncate(length);
        key
    };
    let opener = Opener::new(
        agreed.from_client,
        &derive(b'C', agreed.from_client.key_len()),
        &derive(b'A', 12),
    );
    let sealer = Sealer::new(
        agreed.to_client,
        &derive(b'D', agreed.to_client.key_len()),
        &derive(b'B', 12),
    );
    Ok(Keys {
        reply,
        hash,
        sealer,
        opener,
    })
}

/// The host key of a workspace's agent: the same after each rebuild, so that clients which remember
/// it are not alarmed. It is not what protects the connection; the control plane's access rules are.
pub fn host_key(owner: &str, workspace: &str, agent: &str) -> Ed25519KeyPair {
    let mut context = Context::new(&SHA256);
    for part in ["coder agent ssh host key", owner, workspace, agent] {
        context.update(part.as_bytes());
        context.update(&[0]);
    }
    Ed25519KeyPair::from_seed_unchecked(context.finish().as_ref())
        .expect("a hash of 32 bytes is a seed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client_offer(methods: &str, ciphers: &str) -> Bytes {
        let mut out = vec![KEXINIT];
        out.extend_from_slice(&[0; 16]);
        for list in [
            methods, HOST_KEY, ciphers, ciphers, "", "", "none", "none", "", "",
        ] {
            out.put_string(list);
        }
        out.push(0);
        out.put_u32_be(0);
        out.into()
    }

    #[test]
    fn the_client_s_order_decides_among_what_we_offer() {
        let offer = client_offer(
            "sntrup761x25519-sha512,curve25519-sha256,mlkem768x25519-sha256,kex-strict-c-v00@openssh.com",
            "aes128-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com",
        );
        let agreed = agree(&offer, ciphers_for("SSH-2.0-OpenSSH_9.2")).unwrap();
        assert_eq!(agreed.method, "curve25519-sha256");
        assert_eq!(agreed.to_client, Cipher::Aes128Gcm);
        assert!(agreed.strict);
    }

    #[test]
    fn a_client_with_old_ciphers_only_is_told_what_is_missing() {
        let offer = client_offer("curve25519-sha256", "3des-cbc");
        let error = agree(&offer, ciphers_for("SSH-2.0-other")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the client and this server share no cipher"
        );
    }

    #[test]
    fn a_workspace_keeps_its_host_key_and_no_two_share_one() {
        let key = |agent| host_key("ann", "dev", agent).public_key().as_ref().to_vec();
        assert_eq!(key("main"), key("main"));
        assert_ne!(key("main"), key("other"));
        assert_ne!(
            host_key("a", "bc", "d").public_key().as_ref(),
            host_key("ab", "c", "d").public_key().as_ref()
        );
    }
}
