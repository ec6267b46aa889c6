//! Which passwords are strong enough (spec 02 §2.2).

/// The least strength of a password, in bits.
pub const MIN_ENTROPY_BITS: f64 = 52.0;
/// The longest password, in bytes.
pub const MAX_LENGTH: usize = 64;

/// Why a password is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    /// Longer than we hash.
    #[error("password must be no more than {MAX_LENGTH} characters")]
    TooLong,
    /// Too easy to guess.
    #[error(
        "insecure password, try including more special characters, using uppercase letters, using numbers or using a longer password"
    )]
    Guessable,
}

/// Checks a password against the policy.
///
/// # Errors
/// Says what to do about it.
pub fn check(password: &str) -> Result<(), WeakPassword> {
    if password.len() > MAX_LENGTH {
        return Err(WeakPassword::TooLong);
    }
    if entropy_bits(password) < MIN_ENTROPY_BITS {
        return Err(WeakPassword::Guessable);
    }
    Ok(())
}

/// An estimate of a password's strength: the size of the alphabet that it draws from, raised to its
/// length, where a third equal character in a row and runs such as `abcd` or `4321` add nothing.
fn entropy_bits(password: &str) -> f64 {
    let classes: [(&dyn Fn(char) -> bool, u32); 5] = [
        (&|c| c.is_ascii_lowercase(), 26),
        (&|c| c.is_ascii_uppercase(), 26),
        (&|c| c.is_ascii_digit(), 10),
        (&|c| c.is_ascii_punctuation() || c == ' ', 33),
        (&|c| !c.is_ascii(), 100),
    ];
    let alphabet: u32 = classes
        .iter()
        .filter(|(is, _)| password.chars().any(is))
        .map(|(_, n)| n)
        .sum();
    let characters: Vec<i64> = password.chars().map(|c| i64::from(u32::from(c))).collect();
    let predictable = characters
        .windows(3)
        .filter(|w| w[1] - w[0] == w[2] - w[1] && (-1..=1).contains(&(w[1] - w[0])))
        .count();
    (characters.len() - predictable) as f64 * f64::from(alphabet.max(1)).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strength_decides() {
        for (password, ok) in [
            ("SomePass123!", true),
            ("OtherPass123!", true),
            ("S3cure!pass-phrase", true),
            ("correct horse battery staple", true),
            ("short", false),
            ("abc", false),
            ("", false),
            ("aaaaaaaaaaaaaaaaaaaaaaaaa", false),
            ("12345678901234567890", false),
            ("password", false),
        ] {
            assert_eq!(
                check(password).is_ok(),
                ok,
                "{password:?}: {}",
                entropy_bits(password)
            );
        }
    }

    #[test]
    fn a_password_longer_than_we_hash_is_refused() {
        assert_eq!(check(&"aB3$".repeat(17)), Err(WeakPassword::TooLong));
    }
}
