//! Users and sessions.

use super::extract::{Body, Listing, UserPath};
use super::reply::{Created, Empty, NoContent, Raw, Reply, created, message, ok};
use crate::app::users::{user, validate_password as check_password};
use crate::app::{App, Caller, Origin};
use crate::fail::{Fail, Kind};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse as _;
use coder_model::states::UserStatus;
use coder_wire as wire;

/// Whether the deployment has been set up.
pub async fn first(State(app): State<App>) -> Result<Reply<wire::Response>, Fail> {
    if app.user_first_exists().await? {
        return Ok(message("The initial user has already been created!"));
    }
    Err(Fail::new(
        Kind::NotFound,
        "The initial user has not been created!",
    ))
}

/// Sets the deployment up.
pub async fn create_first(
    State(app): State<App>,
    origin: Origin,
    Body(request): Body<wire::CreateFirstUserRequest>,
) -> Result<Created<wire::CreateFirstUserResponse>, Fail> {
    app.user_create_first(&origin, request).await.map(created)
}

/// Ways to sign in.
pub async fn auth_methods(State(app): State<App>) -> Reply<wire::AuthMethods> {
    ok(app.auth_methods())
}

/// Signs in with a password; the token comes in the body and as a cookie.
pub async fn login(
    State(app): State<App>,
    origin: Origin,
    Body(request): Body<wire::LoginWithPasswordRequest>,
) -> Result<Raw<Created<wire::LoginWithPasswordResponse>>, Fail> {
    let session = app.session_login(&origin, request).await?;
    let cookie = session_cookie(
        &app,
        &session.session_token,
        app.config.sessions.duration.as_secs(),
    );
    let mut response = created(session).into_response();
    response.headers_mut().append(header::SET_COOKIE, cookie);
    Ok(response.into())
}

/// Ends the session.
pub async fn logout(
    State(app): State<App>,
    caller: Caller,
) -> Result<Raw<Reply<wire::Response>>, Fail> {
    app.session_logout(&caller).await?;
    let mut response = message("Logged out!").into_response();
    response
        .headers_mut()
        .append(header::SET_COOKIE, session_cookie(&app, "", 0));
    Ok(response.into())
}

fn session_cookie(app: &App, token: &str, max_age: u64) -> HeaderValue {
    let http = &app.config.http;
    let same_site = if http.same_site.eq_ignore_ascii_case("none") {
        "None"
    } else {
        "Lax"
    };
    let secure = if http.secure_cookies { "; Secure" } else { "" };
    let name = wire::SESSION_TOKEN_COOKIE;
    HeaderValue::from_str(&format!(
        "{name}={token}; Path=/; Max-Age={max_age}; HttpOnly; SameSite={same_site}{secure}"
    ))
    .expect("tokens are letters, digits and a hyphen")
}

/// Whether a password is good enough.
pub async fn validate_password(
    Body(request): Body<wire::ValidateUserPasswordRequest>,
) -> Reply<wire::ValidateUserPasswordResponse> {
    ok(check_password(&request.password))
}

/// A page of users.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    listing: Listing,
) -> Result<Reply<wire::GetUsersResponse>, Fail> {
    app.user_list(&caller, &listing).await.map(ok)
}

/// Makes a user.
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    Body(request): Body<wire::CreateUserRequestWithOrgs>,
) -> Result<Created<wire::User>, Fail> {
    app.user_create(&caller, request).await.map(created)
}

/// One user.
pub async fn get(UserPath(row): UserPath) -> Reply<wire::User> {
    ok(user(&row))
}

/// Deletes a user.
pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    UserPath(row): UserPath,
) -> Result<Reply<wire::Response>, Fail> {
    app.user_delete(&caller, &row).await?;
    Ok(message("User has been deleted!"))
}

/// Changes username and full name.
pub async fn set_profile(
    State(app): State<App>,
    caller: Caller,
    UserPath(row): UserPath,
    Body(request): Body<wire::UpdateUserProfileRequest>,
) -> Result<Reply<wire::User>, Fail> {
    app.user_set_profile(&caller, &row, request).await.map(ok)
}

/// Suspends a user.
pub async fn suspend(
    State(app): State<App>,
    caller: Caller,
    UserPath(row): UserPath,
) -> Result<Reply<wire::User>, Fail> {
    app.user_set_status(&caller, &row, UserStatus::Suspended)
        .await
        .map(ok)
}

/// Lets a user in again.
pub async fn activate(
    State(app): State<App>,
    caller: Caller,
    UserPath(row): UserPath,
) -> Result<Reply<wire::User>, Fail> {
    app.user_set_status(&caller, &row, UserStatus::Active)
        .await
        .map(ok)
}

/// Changes a password.
pub async fn set_password(
    State(app): State<App>,
    caller: Caller,
    UserPath(row): UserPath,
    Body(request): Body<wire::UpdateUserPasswordRequest>,
) -> Result<NoContent, Fail> {
    app.user_set_password(&caller, &row, request).await?;
    Ok(Empty)
}

/// A user's roles.
pub async fn roles(State(app): State<App>, UserPath(row): UserPath) -> Reply<wire::UserRoles> {
    ok(app.user_roles(&row))
}

/// Replaces a user's roles.
pub async fn set_roles(
    State(app): State<App>,
    caller: Caller,
    UserPath(row): UserPath,
    Body(request): Body<wire::UpdateRoles>,
) -> Result<Reply<wire::User>, Fail> {
    app.user_set_roles(&caller, &row, request.roles)
        .await
        .map(ok)
}

/// A user's theme and terminal font.
pub async fn appearance(
    State(app): State<App>,
    caller: Caller,
    UserPath(row): UserPath,
) -> Result<Reply<wire::UserAppearanceSettings>, Fail> {
    app.user_appearance(&caller, &row).await.map(ok)
}

/// Sets a user's theme and terminal font.
pub async fn set_appearance(
    State(app): State<App>,
    caller: Caller,
    UserPath(row): UserPath,
    Body(request): Body<wire::UpdateUserAppearanceSettingsRequest>,
) -> Result<Reply<wire::UserAppearanceSettings>, Fail> {
    app.user_set_appearance(&caller, &row, request)
        .await
        .map(ok)
}

/// When a user's quiet hours begin.
pub async fn quiet_hours(
    State(app): State<App>,
    caller: Caller,
    UserPath(row): UserPath,
) -> Result<Reply<wire::UserQuietHoursScheduleResponse>, Fail> {
    app.user_quiet_hours(&caller, &row).await.map(ok)
}

/// Sets when a user's quiet hours begin.
pub async fn set_quiet_hours(
    State(app): State<App>,
    caller: Caller,
    UserPath(row): UserPath,
    Body(request): Body<wire::UpdateUserQuietHoursScheduleRequest>,
) -> Result<Reply<wire::UserQuietHoursScheduleResponse>, Fail> {
    app.user_set_quiet_hours(&caller, &row, request)
        .await
        .map(ok)
}

/// How a user signs in.
pub async fn login_type(UserPath(row): UserPath) -> Reply<wire::UserLoginType> {
    ok(wire::UserLoginType {
        login_type: user(&row).login_type,
    })
}

/// A user's public git key.
pub async fn git_ssh_key(
    State(app): State<App>,
    caller: Caller,
    UserPath(row): UserPath,
) -> Result<Reply<wire::GitSshKey>, Fail> {
    app.git_ssh_key_get(&caller, &row).await.map(ok)
}

/// Replaces a user's git key pair.
pub async fn regenerate_git_ssh_key(
    State(app): State<App>,
    caller: Caller,
    UserPath(row): UserPath,
) -> Result<Reply<wire::GitSshKey>, Fail> {
    app.git_ssh_key_regenerate(&caller, &row).await.map(ok)
}
