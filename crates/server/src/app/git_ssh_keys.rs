//! The key pairs with which workspaces reach git servers as their owner.

use super::{App, Caller, Change};
use crate::fail::Fail;
use chrono::Utc;
use coder_model::{Actor, UserId};
use coder_store::UserRow;
use coder_wire as wire;
use ssh_key::{Algorithm, EcdsaCurve, LineEnding, PrivateKey};

/// A fresh key pair in OpenSSH's formats: public, private.
fn generate(algorithm: &str) -> Result<(String, String), Fail> {
    let algorithm = match algorithm {
        "rsa4096" => Algorithm::Rsa { hash: None },
        "ecdsa" => Algorithm::Ecdsa {
            curve: EcdsaCurve::NistP256,
        },
        _ => Algorithm::Ed25519,
    };
    let key =
        PrivateKey::random(&mut ssh_key::rand_core::OsRng, algorithm).map_err(Fail::internal)?;
    let public = key.public_key().to_openssh().map_err(Fail::internal)?;
    let private = key.to_openssh(LineEnding::LF).map_err(Fail::internal)?;
    Ok((format!("{public}\n"), private.to_string()))
}

/// The same, off the async threads: RSA takes seconds.
///
/// # Errors
/// When there is no randomness to be had.
pub(crate) async fn generate_off_thread(algorithm: &str) -> Result<(String, String), Fail> {
    let algorithm = algorithm.to_owned();
    tokio::task::spawn_blocking(move || generate(&algorithm))
        .await
        .map_err(Fail::internal)?
}

impl App {
    /// Gives a user a key pair if they have none.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn git_ssh_key_ensure(&self, user: UserId) -> Result<(), Fail> {
        let because = Actor::system("every user has a git key pair");
        match self.store.git_ssh_key_get(&because, user).await {
            Err(coder_store::Error::NotFound) => self.git_ssh_key_replace(&because, user).await,
            other => other.map(|_| ()).map_err(Into::into),
        }
    }

    async fn git_ssh_key_replace(&self, actor: &Actor, user: UserId) -> Result<(), Fail> {
        let (public, private) = generate_off_thread(&self.config.ssh_keygen_algorithm).await?;
        Ok(self
            .store
            .git_ssh_key_set(actor, user, &public, &private, Utc::now())
            .await?)
    }

    /// A user's public key.
    ///
    /// # Errors
    /// [`crate::Kind::NotFound`] also when the caller may not read it.
    pub async fn git_ssh_key_get(
        &self,
        caller: &Caller,
        user: &UserRow,
    ) -> Result<wire::GitSshKey, Fail> {
        let row = match self.store.git_ssh_key_get(&caller.actor, user.id).await {
            Err(coder_store::Error::NotFound) if caller.user.id == user.id => {
                self.git_ssh_key_ensure(user.id).await?;
                self.store.git_ssh_key_get(&caller.actor, user.id).await?
            }
            other => other?,
        };
        Ok(wire::GitSshKey {
            user_id: row.user_id.0,
            created_at: row.created_at,
            updated_at: row.updated_at,
            public_key: row.public_key,
        })
    }

    /// Replaces a user's key pair; git servers must be told the new public key.
    ///
    /// # Errors
    /// [`crate::Kind::Forbidden`].
    pub async fn git_ssh_key_regenerate(
        &self,
        caller: &Caller,
        user: &UserRow,
    ) -> Result<wire::GitSshKey, Fail> {
        self.git_ssh_key_replace(&caller.actor, user.id).await?;
        self.record(
            caller,
            Change::new("write", "git_ssh_key", user.id, user.username.clone()),
        )
        .await;
        self.git_ssh_key_get(caller, user).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_algorithm_gives_a_pair_that_belongs_together() {
        for (algorithm, prefix) in [
            ("ed25519", "ssh-ed25519 "),
            ("ecdsa", "ecdsa-sha2-nistp256 "),
        ] {
            let (public, private) = generate(algorithm).unwrap();
            assert!(public.starts_with(prefix), "{public}");
            let parsed = PrivateKey::from_openssh(&private).unwrap();
            assert_eq!(
                format!("{}\n", parsed.public_key().to_openssh().unwrap()),
                public
            );
        }
    }
}
