//! Hashing of passwords, in the form that the database has always had:
//! `$pbkdf2-sha256$<iterations>$<salt>$<hash>` (spec 03 §3.1).

use crate::fail::Fail;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use ring::pbkdf2;
use ring::rand::{SecureRandom as _, SystemRandom};
use std::num::NonZeroU32;

const ITERATIONS: NonZeroU32 = NonZeroU32::new(65_535).expect("not zero");
const SALT: usize = 16;
const HASH: usize = 64;

/// Hashes a password. Takes some 30 ms of one core, so it runs off the async threads.
///
/// # Errors
/// When there is no randomness to be had.
pub async fn hash(password: String) -> Result<String, Fail> {
    blocking(move || {
        let mut salt = [0; SALT];
        SystemRandom::new()
            .fill(&mut salt)
            .map_err(|_| Fail::internal(anyhow::anyhow!("no randomness")))?;
        let mut out = [0; HASH];
        pbkdf2::derive(
            pbkdf2::PBKDF2_HMAC_SHA256,
            ITERATIONS,
            &salt,
            password.as_bytes(),
            &mut out,
        );
        Ok(format!(
            "$pbkdf2-sha256${ITERATIONS}${}${}",
            STANDARD_NO_PAD.encode(salt),
            STANDARD_NO_PAD.encode(out)
        ))
    })
    .await
}

/// Compares a password with a stored hash. Without one it takes as long and says no, so that nobody
/// learns from the time who exists.
///
/// # Errors
/// When the computation cannot be run.
pub async fn verify(password: String, stored: Option<String>) -> Result<bool, Fail> {
    blocking(move || {
        let parsed = stored.as_deref().and_then(parse);
        let known = parsed.is_some();
        let (iterations, salt, expected) =
            parsed.unwrap_or_else(|| (ITERATIONS, vec![0; SALT], vec![0; HASH]));
        let same = pbkdf2::verify(
            pbkdf2::PBKDF2_HMAC_SHA256,
            iterations,
            &salt,
            password.as_bytes(),
            &expected,
        )
        .is_ok();
        Ok(same && known)
    })
    .await
}

fn parse(stored: &str) -> Option<(NonZeroU32, Vec<u8>, Vec<u8>)> {
    let mut parts = stored.strip_prefix("$pbkdf2-sha256$")?.split('$');
    let iterations = parts.next()?.parse().ok()?;
    let salt = STANDARD_NO_PAD.decode(parts.next()?).ok()?;
    let hash = STANDARD_NO_PAD.decode(parts.next()?).ok()?;
    (parts.next().is_none() && !hash.is_empty()).then_some((iterations, salt, hash))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fail> + Send + 'static,
) -> Result<T, Fail> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(Fail::internal)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_same_password_verifies() {
        let stored = hash("SomePass123!".into()).await.unwrap();
        assert!(stored.starts_with("$pbkdf2-sha256$65535$"));
        assert!(
            verify("SomePass123!".into(), Some(stored.clone()))
                .await
                .unwrap()
        );
        assert!(!verify("somePass123!".into(), Some(stored)).await.unwrap());
        assert!(!verify(String::new(), None).await.unwrap());
        assert!(!verify("x".into(), Some("garbage".into())).await.unwrap());
    }
}
