//! Users: the first one, making and deleting them, profile, password, roles, status, settings.

use super::organizations::slim_roles;
use super::{App, Caller, Change, Origin, notifications, passwords};
use crate::fail::{Checks, Fail, Kind};
use crate::http::extract::Listing;
use chrono::Utc;
use coder_model::states::{LoginType, UserStatus};
use coder_model::{
    Action, Actor, Object, OrganizationId, Resource, UserId, names, password, roles, search,
};
use coder_store::{NewUser, USER_SEARCH_KEYS, UserFilter, UserKey, UserRow};
use coder_wire as wire;
use uuid::Uuid;

const UNIQUE: &str = "This value is already in use and should be unique.";

/// How the API shows a user.
pub fn user(row: &UserRow) -> wire::User {
    wire::User {
        id: row.id.0,
        username: row.username.clone(),
        avatar_url: row.avatar_url.clone(),
        name: row.name.clone(),
        email: row.email.clone(),
        created_at: row.created_at,
        updated_at: row.updated_at,
        last_seen_at: row.last_seen_at.unwrap_or_else(wire::zero_time),
        status: row.status.parse().unwrap_or_default(),
        login_type: row.login_type.parse().unwrap_or_default(),
        theme_preference: String::new(),
        organization_ids: row.organizations.keys().map(|id| id.0).collect(),
        roles: slim_roles(&row.roles),
        must_change_password: row.must_change_password,
    }
}

/// How the API shows a user in lists of other things.
pub fn reduced(row: &UserRow) -> wire::ReducedUser {
    let user = user(row);
    wire::ReducedUser {
        id: user.id,
        username: user.username,
        avatar_url: user.avatar_url,
        name: user.name,
        email: user.email,
        created_at: user.created_at,
        updated_at: user.updated_at,
        last_seen_at: user.last_seen_at,
        status: user.status,
        login_type: user.login_type,
        theme_preference: user.theme_preference,
    }
}

/// What is wrong with a password, said for the field that holds it.
fn check_password(checks: &mut Checks, field: &str, text: &str) {
    checks.check(field, password::check(text));
}

impl App {
    /// Whether the deployment has been set up.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn user_first_exists(&self) -> Result<bool, Fail> {
        Ok(self.store.users_exist().await?)
    }

    /// Sets the deployment up: makes the first user, an owner.
    ///
    /// # Errors
    /// [`Kind::Conflict`] when there is one; names all fields that are wrong.
    pub async fn user_create_first(
        &self,
        origin: &Origin,
        request: wire::CreateFirstUserRequest,
    ) -> Result<wire::CreateFirstUserResponse, Fail> {
        let mut checks = Checks::default();
        checks.require(
            "email",
            names::is_email(&request.email),
            "must be an e-mail address",
        );
        checks.check("username", names::check_name(&request.username));
        checks.check("name", names::check_real_name(&request.name));
        check_password(&mut checks, "password", &request.password);
        let exists = || {
            Fail::new(
                Kind::Conflict,
                "The initial user has already been created. Sign in instead.",
            )
        };
        if self.store.users_exist().await? {
            return Err(exists());
        }
        checks.done()?;
        let id = UserId(Uuid::new_v4());
        let created = self
            .store
            .user_create_first(&NewUser {
                id,
                email: &request.email,
                username: &request.username,
                name: &request.name,
                hashed_password: &passwords::hash(request.password).await?,
                must_change_password: false,
                login_type: LoginType::Password.as_str(),
                status: UserStatus::Active.as_str(),
                roles: &["owner".to_owned()],
                organizations: &[self.default_organization],
                now: Utc::now(),
            })
            .await?;
        if !created {
            return Err(exists());
        }
        self.git_ssh_key_ensure(id).await?;
        self.record_by(
            Some(id),
            origin,
            Change::new("create", "user", id, request.username),
        )
        .await;
        Ok(wire::CreateFirstUserResponse {
            user_id: id.0,
            organization_id: self.default_organization.0,
        })
    }

    /// Makes a user, who is dormant until they first sign in.
    ///
    /// # Errors
    /// Names all fields that are wrong; [`Kind::Conflict`] when name or address is in use.
    pub async fn user_create(
        &self,
        caller: &Caller,
        request: wire::CreateUserRequestWithOrgs,
    ) -> Result<wire::User, Fail> {
        if !caller
            .actor
            .can(Action::Create, &Object::site(Resource::User))
        {
            return Err(Fail::new(
                Kind::Forbidden,
                "You are not allowed to create users. Ask a user admin or an owner.",
            ));
        }
        let login_type = match request.login_type.as_str() {
            "" if request.disable_login => LoginType::None,
            "" => LoginType::Password,
            word => LoginType::parse(word)
                .filter(|t| *t != LoginType::Token)
                .ok_or_else(|| {
                    Fail::field(
                        "Validation failed.",
                        "login_type",
                        "must be password, github, oidc or none",
                    )
                })?,
        };
        let organizations: Vec<OrganizationId> = request
            .organization_ids
            .iter()
            .copied()
            .chain(request.organization_id)
            .map(OrganizationId)
            .collect();
        let mut checks = Checks::default();
        checks.require(
            "email",
            names::is_email(&request.email),
            "must be an e-mail address",
        );
        checks.check("username", names::check_name(&request.username));
        checks.check("name", names::check_real_name(&request.name));
        checks.require(
            "organization_ids",
            !organizations.is_empty(),
            "must name at least one organization",
        );
        if login_type == LoginType::Password {
            check_password(&mut checks, "password", &request.password);
        } else {
            checks.require(
                "password",
                request.password.is_empty(),
                "must be empty, for this login type has no password",
            );
        }
        let status = match request.user_status.as_deref() {
            None | Some("" | "dormant") => UserStatus::Dormant,
            Some("active") => UserStatus::Active,
            Some(_) => {
                checks.fail("user_status", "must be active or dormant");
                UserStatus::Dormant
            }
        };
        checks.require(
            "must_change_password",
            !request.must_change_password || login_type == LoginType::Password,
            "is only for users who sign in with a password",
        );
        checks.done()?;
        for organization in &organizations {
            self.store
                .organization_get(
                    &caller.actor,
                    coder_store::OrganizationKey::Id(*organization),
                )
                .await
                .map_err(|_| {
                    Fail::new(
                        Kind::NotFound,
                        format!(
                            "Organization {organization} does not exist, or you may not see it."
                        ),
                    )
                })?;
        }
        let hash = match login_type {
            LoginType::Password => passwords::hash(request.password).await?,
            _ => String::new(),
        };
        let new = NewUser {
            id: UserId(Uuid::new_v4()),
            email: &request.email,
            username: &request.username,
            name: &request.name,
            hashed_password: &hash,
            must_change_password: request.must_change_password,
            login_type: login_type.as_str(),
            status: status.as_str(),
            roles: &[],
            organizations: &organizations,
            now: Utc::now(),
        };
        let row =
            self.store
                .user_create(&caller.actor, &new)
                .await
                .map_err(|error| match error {
                    coder_store::Error::Conflict { .. } => Fail::new(
                        Kind::Conflict,
                        "User already exists. Choose another username and e-mail address.",
                    ),
                    error => error.into(),
                })?;
        self.git_ssh_key_ensure(row.id).await?;
        self.record(
            caller,
            Change::new("create", "user", row.id, row.username.clone()),
        )
        .await;
        self.notify_about_user(caller, &notifications::USER_CREATED, &row)
            .await;
        Ok(user(&row))
    }

    /// A page of users.
    ///
    /// # Errors
    /// Names the query parameter that is wrong.
    pub async fn user_list(
        &self,
        caller: &Caller,
        listing: &Listing,
    ) -> Result<wire::GetUsersResponse, Fail> {
        let query = search::parse(&listing.q, USER_SEARCH_KEYS)?;
        let mut filter = UserFilter::from_query(&query)?;
        filter.after_id = listing.after_id.map(UserId);
        filter.limit = listing.limit;
        filter.offset = listing.offset;
        let (rows, count) = self.store.user_list(&caller.actor, &filter).await?;
        Ok(wire::GetUsersResponse {
            users: rows.iter().map(user).collect(),
            count,
        })
    }

    /// A user's roles.
    pub fn user_roles(&self, row: &UserRow) -> wire::UserRoles {
        wire::UserRoles {
            roles: row.roles.clone(),
            organization_roles: row
                .organizations
                .iter()
                .map(|(id, roles)| (id.to_string(), roles.clone()))
                .collect(),
        }
    }

    async fn user_again(&self, id: UserId) -> Result<UserRow, Fail> {
        Ok(self
            .store
            .user_get(
                &Actor::system("the caller has just changed this user"),
                UserKey::Id(id),
            )
            .await?)
    }

    /// Replaces a user's site-wide roles.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for oneself, unknown roles, and roles that the caller may not give.
    pub async fn user_set_roles(
        &self,
        caller: &Caller,
        row: &UserRow,
        wanted: Vec<String>,
    ) -> Result<wire::User, Fail> {
        if caller.user.id == row.id {
            return Err(Fail::invalid(
                "You cannot change your own roles. Ask another administrator.",
            ));
        }
        if !caller
            .actor
            .can(Action::Assign, &Object::site(Resource::AssignRole))
        {
            return Err(Fail::forbidden());
        }
        let known: Vec<&str> = roles::site_roles().map(|role| role.name).collect();
        let wanted: Vec<String> = wanted.into_iter().filter(|role| role != "member").collect();
        if let Some(unknown) = wanted.iter().find(|role| !known.contains(&role.as_str())) {
            return Err(Fail::invalid(format!(
                "{unknown:?} is not a role; choose from {}.",
                known.join(", ")
            )));
        }
        let changed = wanted
            .iter()
            .filter(|r| !row.roles.contains(r))
            .chain(row.roles.iter().filter(|r| !wanted.contains(r)));
        if let Some(role) = changed
            .into_iter()
            .find(|role| !roles::may_assign(&caller.user.roles, role))
        {
            return Err(Fail::new(
                Kind::Forbidden,
                format!("You are not allowed to give or take the role {role:?}."),
            ));
        }
        self.store
            .user_set_roles(&caller.actor, row.id, &wanted, Utc::now())
            .await?;
        let after = self.user_again(row.id).await?;
        self.record(
            caller,
            Change::new("write", "user", row.id, row.username.clone())
                .between(&user(row), &user(&after)),
        )
        .await;
        Ok(user(&after))
    }

    /// Changes a user's username and full name.
    ///
    /// # Errors
    /// Names the field; [`Kind::Conflict`] when the username is in use.
    pub async fn user_set_profile(
        &self,
        caller: &Caller,
        row: &UserRow,
        request: wire::UpdateUserProfileRequest,
    ) -> Result<wire::User, Fail> {
        let mut checks = Checks::default();
        checks.check("username", names::check_name(&request.username));
        checks.check("name", names::check_real_name(&request.name));
        checks.done()?;
        let result = self
            .store
            .user_set_profile(
                &caller.actor,
                row.id,
                &request.username,
                &request.name,
                Utc::now(),
            )
            .await;
        result.map_err(|error| match error.is_conflict("users_username") {
            true => Fail::new(
                Kind::Conflict,
                format!(
                    "Username {:?} is taken. Choose another one.",
                    request.username
                ),
            )
            .with_field("username", UNIQUE),
            false => error.into(),
        })?;
        let after = self.user_again(row.id).await?;
        self.record(
            caller,
            Change::new("write", "user", row.id, after.username.clone())
                .between(&user(row), &user(&after)),
        )
        .await;
        Ok(user(&after))
    }

    /// Suspends a user or lets them in again.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for oneself and for another owner.
    pub async fn user_set_status(
        &self,
        caller: &Caller,
        row: &UserRow,
        status: UserStatus,
    ) -> Result<wire::User, Fail> {
        if status == UserStatus::Suspended {
            if caller.user.id == row.id {
                return Err(Fail::invalid("You cannot suspend yourself."));
            }
            if row.roles.iter().any(|role| role == "owner") {
                return Err(Fail::invalid(
                    "You cannot suspend a user with the \"owner\" role. Take the role away first.",
                ));
            }
        }
        self.store
            .user_set_status(&caller.actor, row.id, status.as_str(), Utc::now())
            .await?;
        let after = self.user_again(row.id).await?;
        let notice = if status == UserStatus::Suspended {
            &notifications::USER_SUSPENDED
        } else {
            &notifications::USER_ACTIVATED
        };
        self.notify_about_user(caller, notice, row).await;
        self.record(
            caller,
            Change::new("write", "user", row.id, row.username.clone())
                .between(&user(row), &user(&after)),
        )
        .await;
        Ok(user(&after))
    }

    /// Changes a password. Changing one's own needs the old one; all sessions of the user end. Somebody else may be made to
    /// choose another one before they go on.
    ///
    /// # Errors
    /// Names the field that is wrong.
    pub async fn user_set_password(
        &self,
        caller: &Caller,
        row: &UserRow,
        request: wire::UpdateUserPasswordRequest,
    ) -> Result<(), Fail> {
        let own = caller.user.id == row.id;
        let stored = self.store.user_password_hash(&caller.actor, row.id).await?;
        if row.login_type != LoginType::Password.as_str() {
            return Err(Fail::invalid(format!(
                "{} signs in with {:?}, which has no password.",
                row.username, row.login_type
            )));
        }
        let mut checks = Checks::default();
        check_password(&mut checks, "password", &request.password);
        checks.require(
            "must_change_password",
            !(own && request.must_change_password),
            "is only for the password of somebody else",
        );
        checks.done()?;
        if own {
            if request.old_password.is_empty() {
                return Err(Fail::invalid("Old password is required."));
            }
            if request.old_password == request.password {
                return Err(Fail::field(
                    "Validation failed.",
                    "password",
                    "must differ from the old password",
                ));
            }
            if !passwords::verify(request.old_password, Some(stored)).await? {
                return Err(Fail::field(
                    "Old password is incorrect.",
                    "old_password",
                    "Old password is incorrect.",
                ));
            }
        }
        let hash = passwords::hash(request.password).await?;
        self.store
            .user_set_password(
                &caller.actor,
                row.id,
                &hash,
                request.must_change_password,
                Utc::now(),
            )
            .await?;
        self.record(
            caller,
            Change::new("write", "user", row.id, row.username.clone()),
        )
        .await;
        Ok(())
    }

    /// Deletes a user who owns no workspace.
    ///
    /// # Errors
    /// [`Kind::Forbidden`] for oneself; [`Kind::ExpectationFailed`] while they own workspaces.
    pub async fn user_delete(&self, caller: &Caller, row: &UserRow) -> Result<(), Fail> {
        if caller.user.id == row.id {
            return Err(Fail::new(
                Kind::Forbidden,
                "You cannot delete yourself. Ask another administrator.",
            ));
        }
        self.store.user_delete(&caller.actor, row.id, Utc::now()).await.map_err(|error| match error {
            coder_store::Error::InUse { .. } => Fail::new(
                Kind::ExpectationFailed,
                format!("{} still owns workspaces. Delete them first, or give them to somebody else.", row.username),
            ),
            error => error.into(),
        })?;
        self.record(
            caller,
            Change::new("delete", "user", row.id, row.username.clone()),
        )
        .await;
        self.notify_about_user(caller, &notifications::USER_DELETED, row)
            .await;
        Ok(())
    }

    /// A user's theme and terminal font.
    ///
    /// # Errors
    /// [`Kind::NotFound`] also when the caller may not read them.
    pub async fn user_appearance(
        &self,
        caller: &Caller,
        row: &UserRow,
    ) -> Result<wire::UserAppearanceSettings, Fail> {
        let get = |key| self.store.user_config(&caller.actor, row.id, key);
        Ok(wire::UserAppearanceSettings {
            theme_preference: get("theme_preference").await?.unwrap_or_default(),
            terminal_font: get("terminal_font").await?.unwrap_or_default(),
        })
    }

    /// Sets a user's theme and terminal font.
    ///
    /// # Errors
    /// Names the field that is wrong.
    pub async fn user_set_appearance(
        &self,
        caller: &Caller,
        row: &UserRow,
        request: wire::UpdateUserAppearanceSettingsRequest,
    ) -> Result<wire::UserAppearanceSettings, Fail> {
        const FONTS: &[&str] = &[
            "",
            "ibm-plex-mono",
            "fira-code",
            "source-code-pro",
            "jetbrains-mono",
            "geist-mono",
        ];
        let mut checks = Checks::default();
        checks.require(
            "theme_preference",
            !request.theme_preference.is_empty(),
            "must not be empty",
        );
        checks.require(
            "terminal_font",
            FONTS.contains(&request.terminal_font.as_str()),
            &format!("must be one of{}", FONTS.join(" ")),
        );
        checks.done()?;
        for (key, value) in [
            ("theme_preference", &request.theme_preference),
            ("terminal_font", &request.terminal_font),
        ] {
            self.store
                .user_set_config(&caller.actor, row.id, key, value)
                .await?;
        }
        self.user_appearance(caller, row).await
    }
}

/// Whether a password is good enough, and why not.
pub fn validate_password(text: &str) -> wire::ValidateUserPasswordResponse {
    let result = password::check(text);
    wire::ValidateUserPasswordResponse {
        valid: result.is_ok(),
        details: result.err().map(|e| e.to_string()).unwrap_or_default(),
    }
}
