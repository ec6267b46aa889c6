//! What an operator does on the database itself when nobody can sign in: make an administrator, or give somebody a new
//! password. Needs no running server, and no permission but access to the database. Must not ask questions.

use crate::app::{git_ssh_keys, passwords};
use crate::fail::Fail;
use chrono::Utc;
use coder_model::states::{LoginType, UserStatus};
use coder_model::{Actor, UserId, names, password};
use coder_store::{NewUser, Store, UserKey, UserRow};
use uuid::Uuid;

/// Why it cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum RescueError {
    /// The name or the address is in use.
    #[error(
        "a user with this name or e-mail address exists already; give another one, or change the password with: coder reset-password {username}"
    )]
    Exists {
        /// The name that was asked for.
        username: String,
    },
    /// Nobody has this name or address.
    #[error("there is no user {user:?}; give a user name or an e-mail address")]
    NoUser {
        /// What was asked for.
        user: String,
    },
    /// A password would be of no use.
    #[error("{username} signs in by {login_type} and has no password here")]
    NoPassword {
        /// The user.
        username: String,
        /// How they sign in.
        login_type: String,
    },
    /// A value cannot be used.
    #[error("{field}: {problem}")]
    Field {
        /// Which one.
        field: &'static str,
        /// What is wrong, never the value of a password.
        problem: String,
    },
    /// The database does not answer, or refuses.
    #[error("change the database")]
    Store(#[from] coder_store::Error),
    /// Key or hash cannot be computed.
    #[error("{0}")]
    Compute(String),
}

impl From<Fail> for RescueError {
    fn from(fail: Fail) -> Self {
        Self::Compute(fail.message)
    }
}

/// An administrator to be made. It has no `Debug`: it holds a password.
pub struct NewAdmin {
    /// The user name.
    pub username: String,
    /// The e-mail address.
    pub email: String,
    /// The password in the clear.
    pub password: String,
    /// What kind of git key the user gets: ed25519, ecdsa or rsa4096.
    pub ssh_keygen_algorithm: String,
}

/// An administrator who was made.
#[derive(Debug)]
pub struct Admin {
    /// The user's id.
    pub id: Uuid,
    /// The organizations that they administer, by name.
    pub organizations: Vec<String>,
}

/// What is wrong with a user name.
///
/// # Errors
/// Says what to change.
pub fn check_username(name: &str) -> Result<(), String> {
    names::check_name(name).map_err(|error| error.to_string())
}

/// What is wrong with an e-mail address.
///
/// # Errors
/// Says what is expected.
pub fn check_email(email: &str) -> Result<(), String> {
    if names::is_email(email) {
        Ok(())
    } else {
        Err("must be an e-mail address".to_owned())
    }
}

/// What is wrong with a password.
///
/// # Errors
/// Says what to change.
pub fn check_password(text: &str) -> Result<(), String> {
    password::check(text).map_err(|error| error.to_string())
}

fn field(field: &'static str, checked: Result<(), String>) -> Result<(), RescueError> {
    checked.map_err(|problem| RescueError::Field { field, problem })
}

/// Makes an owner who signs in with a password and administers every organization.
///
/// # Errors
/// [`RescueError::Field`] names the value that is wrong; [`RescueError::Exists`].
pub async fn create_admin(store: &Store, admin: NewAdmin) -> Result<Admin, RescueError> {
    field("username", check_username(&admin.username))?;
    field("email", check_email(&admin.email))?;
    field("password", check_password(&admin.password))?;
    let algorithms = ["ed25519", "ecdsa", "rsa4096"];
    if !algorithms.contains(&admin.ssh_keygen_algorithm.as_str()) {
        return Err(RescueError::Field {
            field: "ssh-keygen-algorithm",
            problem: format!("must be one of {}", algorithms.join(", ")),
        });
    }
    let actor = Actor::system("an operator makes an administrator on the database");
    let now = Utc::now();
    // The database may be so new that no server has been started on it.
    store
        .organization_ensure_default(coder_model::OrganizationId(Uuid::new_v4()), now)
        .await?;
    let organizations = store.organization_list(&actor, None).await?;
    let (public, private) = git_ssh_keys::generate_off_thread(&admin.ssh_keygen_algorithm).await?;
    let new = NewUser {
        id: UserId(Uuid::new_v4()),
        email: &admin.email,
        username: &admin.username,
        name: "",
        hashed_password: &passwords::hash(admin.password).await?,
        must_change_password: false,
        login_type: LoginType::Password.as_str(),
        status: UserStatus::Active.as_str(),
        roles: &["owner".to_owned()],
        organizations: &organizations.iter().map(|o| o.id).collect::<Vec<_>>(),
        now,
    };
    match store.user_create(&actor, &new).await {
        Err(coder_store::Error::Conflict { .. }) => {
            return Err(RescueError::Exists {
                username: admin.username,
            });
        }
        created => created?,
    };
    store
        .git_ssh_key_set(&actor, new.id, &public, &private, now)
        .await?;
    let role = ["organization-admin".to_owned()];
    for organization in &organizations {
        store
            .member_set_roles(&actor, organization.id, new.id, &role, now)
            .await?;
    }
    Ok(Admin {
        id: new.id.0,
        organizations: organizations.into_iter().map(|o| o.name).collect(),
    })
}

/// Finds the user whose password is to be changed, by name or e-mail address.
///
/// # Errors
/// [`RescueError::NoUser`]; [`RescueError::NoPassword`].
pub async fn find_user(store: &Store, user: &str) -> Result<UserRow, RescueError> {
    let actor = Actor::system("an operator looks for a user on the database");
    let row = match store.user_get(&actor, UserKey::Name(user)).await {
        Err(coder_store::Error::NotFound) => store.user_for_login(user).await?.map(|(row, _)| row),
        found => Some(found?),
    };
    let row = row.ok_or_else(|| RescueError::NoUser {
        user: user.to_owned(),
    })?;
    if row.login_type != LoginType::Password.as_str() {
        return Err(RescueError::NoPassword {
            username: row.username,
            login_type: row.login_type,
        });
    }
    Ok(row)
}

/// Gives a user a new password; all their sessions end.
///
/// # Errors
/// [`RescueError::Field`] when the password is too weak.
pub async fn reset_password(
    store: &Store,
    user: &UserRow,
    password: String,
) -> Result<(), RescueError> {
    field("password", check_password(&password))?;
    let actor = Actor::system("an operator resets a password on the database");
    let hash = passwords::hash(password).await?;
    Ok(store
        .user_set_password(&actor, user.id, &hash, false, Utc::now())
        .await?)
}
