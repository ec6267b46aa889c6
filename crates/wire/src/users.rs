//! Accounts, sign-in and the settings of one person. Must not hold rules such as what a valid name
//! is.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::closed_enum::closed_enum;
use crate::{HIDDEN, SlimRole, is_false, null_as_empty};

closed_enum! {
    /// Whether an account may sign in; `dormant` becomes `active` at the first use.
    UserStatus {
        Active = "active",
        Dormant = "dormant",
        Suspended = "suspended",
    }
}

closed_enum! {
    /// How an account signs in.
    LoginType {
        Unset = "",
        Password = "password",
        Github = "github",
        Oidc = "oidc",
        Token = "token",
        None = "none",
    }
}

/// An account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct User {
    pub id: Uuid,
    pub username: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub avatar_url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    pub email: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub last_seen_at: DateTime<Utc>,
    pub status: UserStatus,
    pub login_type: LoginType,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub theme_preference: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub organization_ids: Vec<Uuid>,
    #[serde(deserialize_with = "null_as_empty")]
    pub roles: Vec<SlimRole>,
    /// They must choose another password before anything else. Stock Coder has no such field; it is left out when false.
    #[serde(skip_serializing_if = "is_false")]
    pub must_change_password: bool,
}

/// An account without its roles and organizations, as lists of other resources carry it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReducedUser {
    pub id: Uuid,
    pub username: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub avatar_url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    pub email: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub last_seen_at: DateTime<Utc>,
    pub status: UserStatus,
    pub login_type: LoginType,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub theme_preference: String,
}

/// The least that names a person, for example the author of a template version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MinimalUser {
    pub id: Uuid,
    pub username: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub avatar_url: String,
}

/// A page of accounts and how many match in all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GetUsersResponse {
    #[serde(deserialize_with = "null_as_empty")]
    pub users: Vec<User>,
    pub count: i64,
}

/// Sets up the first account, which becomes the owner.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreateFirstUserRequest {
    pub email: String,
    pub username: String,
    pub name: String,
    pub password: String,
    pub trial: bool,
    pub trial_info: CreateFirstUserTrialInfo,
}

impl std::fmt::Debug for CreateFirstUserRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreateFirstUserRequest")
            .field("email", &self.email)
            .field("username", &self.username)
            .field("name", &self.name)
            .field("password", &HIDDEN)
            .field("trial", &self.trial)
            .field("trial_info", &self.trial_info)
            .finish()
    }
}

/// What stock Coder asks for a trial licence; accepted and ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreateFirstUserTrialInfo {
    pub first_name: String,
    pub last_name: String,
    pub phone_number: String,
    pub job_title: String,
    pub company_name: String,
    pub country: String,
    pub developers: String,
}

/// The account and organization made by the first set-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreateFirstUserResponse {
    pub user_id: Uuid,
    pub organization_id: Uuid,
}

/// Creates an account. `login_type` and `user_status` are plain words so that the server can name
/// the bad field.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreateUserRequestWithOrgs {
    pub email: String,
    pub username: String,
    pub name: String,
    pub password: String,
    pub login_type: String,
    pub user_status: Option<String>,
    #[serde(deserialize_with = "null_as_empty")]
    pub organization_ids: Vec<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    #[serde(skip_serializing_if = "is_false")]
    pub disable_login: bool,
    /// They choose another password when they first sign in. Stock Coder does not know it.
    #[serde(skip_serializing_if = "is_false")]
    pub must_change_password: bool,
}

impl std::fmt::Debug for CreateUserRequestWithOrgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreateUserRequestWithOrgs")
            .field("email", &self.email)
            .field("username", &self.username)
            .field("name", &self.name)
            .field("password", &HIDDEN)
            .field("login_type", &self.login_type)
            .field("user_status", &self.user_status)
            .field("organization_ids", &self.organization_ids)
            .field("organization_id", &self.organization_id)
            .field("disable_login", &self.disable_login)
            .field("must_change_password", &self.must_change_password)
            .finish()
    }
}

/// Changes user name and real name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateUserProfileRequest {
    pub username: String,
    pub name: String,
}

/// Theme and terminal font of the web interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserAppearanceSettings {
    pub theme_preference: String,
    pub terminal_font: String,
}

/// Changes theme and terminal font.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateUserAppearanceSettingsRequest {
    pub theme_preference: String,
    pub terminal_font: String,
}

/// When a user's quiet hours begin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserQuietHoursScheduleResponse {
    /// As a cron line with `CRON_TZ`.
    pub raw_schedule: String,
    /// The user has set them; else they are the deployment's.
    pub user_set: bool,
    /// The deployment lets users set their own.
    pub user_can_set: bool,
    /// `HH:MM`.
    pub time: String,
    pub timezone: String,
    pub next: DateTime<FixedOffset>,
}

/// Sets a user's quiet hours; an empty schedule is the deployment's again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateUserQuietHoursScheduleRequest {
    pub schedule: String,
}

/// Changes a password; people who change their own give the old one.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateUserPasswordRequest {
    pub old_password: String,
    pub password: String,
    /// For somebody else's password: they choose another one when they next sign in. Stock Coder does not know it.
    #[serde(skip_serializing_if = "is_false")]
    pub must_change_password: bool,
}

impl std::fmt::Debug for UpdateUserPasswordRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpdateUserPasswordRequest")
            .field("old_password", &HIDDEN)
            .field("password", &HIDDEN)
            .field("must_change_password", &self.must_change_password)
            .finish()
    }
}

/// Asks whether a password is good enough.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ValidateUserPasswordRequest {
    pub password: String,
}

impl std::fmt::Debug for ValidateUserPasswordRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ValidateUserPasswordRequest")
            .field("password", &HIDDEN)
            .finish()
    }
}

/// Whether the password is good enough, and why not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ValidateUserPasswordResponse {
    pub valid: bool,
    pub details: String,
}

/// Replaces the roles of an account or a member.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateRoles {
    #[serde(deserialize_with = "null_as_empty")]
    pub roles: Vec<String>,
}

/// The site roles of an account, and its roles in each organization.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserRoles {
    #[serde(deserialize_with = "null_as_empty")]
    pub roles: Vec<String>,
    #[serde(deserialize_with = "null_as_empty")]
    pub organization_roles: BTreeMap<String, Vec<String>>,
}

/// Signs in.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoginWithPasswordRequest {
    pub email: String,
    pub password: String,
}

impl std::fmt::Debug for LoginWithPasswordRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginWithPasswordRequest")
            .field("email", &self.email)
            .field("password", &HIDDEN)
            .finish()
    }
}

/// The session's token.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoginWithPasswordResponse {
    pub session_token: String,
}

impl std::fmt::Debug for LoginWithPasswordResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginWithPasswordResponse")
            .field("session_token", &HIDDEN)
            .finish()
    }
}

/// Asks for a one-time passcode by e-mail.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestOneTimePasscodeRequest {
    pub email: String,
}

/// Sets a new password with a one-time passcode.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangePasswordWithOneTimePasscodeRequest {
    pub email: String,
    pub password: String,
    pub one_time_passcode: String,
}

impl std::fmt::Debug for ChangePasswordWithOneTimePasscodeRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChangePasswordWithOneTimePasscodeRequest")
            .field("email", &self.email)
            .field("password", &HIDDEN)
            .field("one_time_passcode", &HIDDEN)
            .finish()
    }
}

/// Asks to change how an account signs in.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConvertLoginRequest {
    pub to_type: String,
    pub password: String,
}

impl std::fmt::Debug for ConvertLoginRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConvertLoginRequest")
            .field("to_type", &self.to_type)
            .field("password", &HIDDEN)
            .finish()
    }
}

/// Where a change of login type continues.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OAuthConversionResponse {
    pub state_string: String,
    pub expires_at: DateTime<Utc>,
    pub to_type: LoginType,
    pub user_id: Uuid,
}

impl std::fmt::Debug for OAuthConversionResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OAuthConversionResponse")
            .field("state_string", &HIDDEN)
            .field("expires_at", &self.expires_at)
            .field("to_type", &self.to_type)
            .field("user_id", &self.user_id)
            .finish()
    }
}

/// How the account signs in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserLoginType {
    pub login_type: LoginType,
}

/// Which ways to sign in the deployment offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthMethods {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub terms_of_service_url: String,
    pub password: AuthMethod,
    pub github: GithubAuthMethod,
    pub oidc: OidcAuthMethod,
}

/// One way to sign in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthMethod {
    pub enabled: bool,
}

/// Sign-in with GitHub.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GithubAuthMethod {
    pub enabled: bool,
    pub default_provider_configured: bool,
}

/// Sign-in with OpenID Connect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OidcAuthMethod {
    pub enabled: bool,
    #[serde(rename = "signInText")]
    pub sign_in_text: String,
    #[serde(rename = "iconUrl")]
    pub icon_url: String,
}

/// A parameter value that the person used last for a template.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserParameter {
    pub name: String,
    pub value: String,
}

/// The public half of a person's git SSH key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GitSshKey {
    pub user_id: Uuid,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub public_key: String,
}
