//! Every route of the server, grouped by who calls it. Start reading here.

// `Router` and the methods come from above, because the description of the API reads this table with its own.
use super::{Router, any, get, patch, post, put};
use super::{
    agent_side, agents, audit, builds, debug, deployment, files, jobs, notifications,
    organizations, path_apps, static_files, template_versions, templates, tokens, tunnels, users,
    workspaces,
};
use crate::app::App;

/// All routes.
pub fn all() -> Router<App> {
    Router::new()
        .merge(public())
        .merge(apps())
        .merge(replicas())
        .nest(
            "/api/v2",
            Router::new()
                .merge(anybody())
                .merge(people())
                .merge(template_routes())
                .merge(workspace_routes())
                .merge(agents_themselves()),
        )
}

/// Outside the API.
fn public() -> Router<App> {
    Router::new()
        .route("/healthz", get(deployment::healthz))
        .route("/health", get(deployment::healthz))
        .route("/api/v2/", get(deployment::root))
        .route(
            "/latency-check",
            get(static_files::latency_check).options(static_files::latency_check),
        )
        .route("/install.sh", get(static_files::install_script))
        .route("/bin/{name}", get(static_files::binary))
}

/// The API for callers who need not be signed in.
fn anybody() -> Router<App> {
    Router::new()
        .route("/buildinfo", get(deployment::build_info))
        .route("/updatecheck", get(deployment::update_check))
        .route("/users/first", get(users::first).post(users::create_first))
        .route("/users/login", post(users::login))
        .route("/users/authmethods", get(users::auth_methods))
        .route("/users/validate-password", post(users::validate_password))
        .route("/init-script/{os}/{arch}", get(jobs::init_script))
}

/// The API for people who are signed in.
fn people() -> Router<App> {
    Router::new()
        // users
        .route("/users", get(users::list).post(users::create))
        .route("/users/logout", post(users::logout))
        .route("/users/roles", get(organizations::site_roles))
        .route("/users/{user}", get(users::get).delete(users::delete))
        .route("/users/{user}/profile", put(users::set_profile))
        .route("/users/{user}/status/suspend", put(users::suspend))
        .route("/users/{user}/status/activate", put(users::activate))
        .route("/users/{user}/password", put(users::set_password))
        .route(
            "/users/{user}/roles",
            get(users::roles).put(users::set_roles),
        )
        .route(
            "/users/{user}/appearance",
            get(users::appearance).put(users::set_appearance),
        )
        .route(
            "/users/{user}/quiet-hours",
            get(users::quiet_hours).put(users::set_quiet_hours),
        )
        .route("/users/{user}/login-type", get(users::login_type))
        .route(
            "/users/{user}/gitsshkey",
            get(users::git_ssh_key).put(users::regenerate_git_ssh_key),
        )
        .route("/users/{user}/organizations", get(organizations::of_user))
        .route(
            "/users/{user}/organizations/{organization}",
            get(organizations::get),
        )
        // tokens
        .route("/users/{user}/keys", post(tokens::create_session_key))
        .route(
            "/users/{user}/keys/tokens",
            get(tokens::list).post(tokens::create),
        )
        .route("/users/{user}/keys/tokens/tokenconfig", get(tokens::config))
        .route("/users/{user}/keys/tokens/{name}", get(tokens::get_by_name))
        .route(
            "/users/{user}/keys/{key}",
            get(tokens::get).delete(tokens::delete),
        )
        .route("/users/{user}/keys/{key}/expire", put(tokens::expire))
        // organizations
        .route("/organizations", get(organizations::list))
        .route("/organizations/{organization}", get(organizations::get))
        .route(
            "/organizations/{organization}/members",
            get(organizations::members),
        )
        .route(
            "/organizations/{organization}/paginated-members",
            get(organizations::members_page),
        )
        .route(
            "/organizations/{organization}/members/roles",
            get(organizations::roles),
        )
        .route(
            "/organizations/{organization}/members/{user}",
            get(organizations::member)
                .post(organizations::add_member)
                .delete(organizations::remove_member),
        )
        .route(
            "/organizations/{organization}/members/{user}/roles",
            put(organizations::set_member_roles),
        )
        // jobs
        .route(
            "/organizations/{organization}/provisionerdaemons",
            get(jobs::daemons),
        )
        .route(
            "/organizations/{organization}/provisionerjobs",
            get(jobs::list),
        )
        .route(
            "/organizations/{organization}/provisionerjobs/{job}",
            get(jobs::get),
        )
        // deployment
        .route("/authcheck", post(deployment::authorization_check))
        .route("/experiments", get(deployment::experiments))
        .route(
            "/experiments/available",
            get(deployment::experiments_available),
        )
        .route("/deployment/ssh", get(deployment::ssh_config))
        .route("/deployment/stats", get(deployment::stats))
        .route("/regions", get(deployment::regions))
        .route("/applications/host", get(deployment::apps_host))
        .route("/entitlements", get(deployment::entitlements))
        .route("/appearance", get(deployment::appearance))
        .route("/external-auth", get(deployment::external_auth))
        .route("/deployment/config", get(deployment::config))
        .route("/audit", get(audit::list))
        .route("/debug/metrics", get(deployment::metrics))
        .route("/debug/health", get(debug::health))
        .route(
            "/debug/health/settings",
            get(debug::health_settings).put(debug::set_health_settings),
        )
        .route("/debug/ws", get(debug::echo))
        // agents
        .route("/workspaceagents/connection", get(agents::any_connection))
        .route("/workspaceagents/{workspaceagent}/logs", get(agents::logs))
        .route(
            "/workspaceagents/{workspaceagent}/startup-logs",
            get(agents::logs),
        )
        .route(
            "/workspaceagents/{workspaceagent}/listening-ports",
            get(agents::listening_ports),
        )
        .route(
            "/workspaceagents/{workspaceagent}/containers",
            get(agents::containers),
        )
        .route(
            "/workspaceagents/{workspaceagent}/coordinate",
            get(agents::coordinate),
        )
        .route(
            "/workspaceagents/{workspaceagent}/connection",
            get(agents::connection),
        )
        .route(
            "/workspaceagents/{workspaceagent}/watch-metadata",
            get(agents::watch_metadata),
        )
        .route(
            "/workspaceagents/{workspaceagent}/watch-metadata-ws",
            get(agents::watch_metadata_ws),
        )
        .route("/workspaceagents/{workspaceagent}/dial", get(tunnels::dial))
        .route(
            "/workspaceagents/{workspaceagent}/pty",
            get(tunnels::terminal),
        )
        // notifications
        .route(
            "/notifications/settings",
            get(notifications::settings).put(notifications::set_settings),
        )
        .route(
            "/notifications/templates/system",
            get(notifications::templates),
        )
        .route(
            "/notifications/dispatch-methods",
            get(notifications::dispatch_methods),
        )
        .route("/notifications/test", post(notifications::test))
        .route("/notifications/inbox", get(notifications::inbox))
        .route("/notifications/inbox/watch", get(notifications::watch))
        .route(
            "/notifications/inbox/mark-all-as-read",
            put(notifications::mark_all),
        )
        .route(
            "/notifications/inbox/{id}/read-status",
            put(notifications::mark),
        )
        .route(
            "/users/{user}/notifications/preferences",
            get(notifications::preferences).put(notifications::set_preferences),
        )
}

/// The API for agents, which authenticate with tokens of their own.
fn agents_themselves() -> Router<App> {
    Router::new()
        .route("/workspaceagents/me/rpc", get(agent_side::connect))
        .route("/workspaceagents/me/reinit", get(agent_side::reinit))
        .route("/workspaceagents/me/logs", patch(agent_side::add_logs))
        .route(
            "/workspaceagents/me/log-source",
            post(agent_side::add_log_source),
        )
        .route(
            "/workspaceagents/me/gitsshkey",
            get(agent_side::git_ssh_key),
        )
        .route(
            "/workspaceagents/me/external-auth",
            get(agent_side::external_auth),
        )
        .route(
            "/workspaceagents/me/gitauth",
            get(agent_side::external_auth),
        )
}

/// Apps of workspaces under the deployment's own host.
fn apps() -> Router<App> {
    Router::new()
        .route("/@{user}/{workspace}/apps/{slug}", any(path_apps::serve))
        .route("/@{user}/{workspace}/apps/{slug}/", any(path_apps::serve))
        .route(
            "/@{user}/{workspace}/apps/{slug}/{*rest}",
            any(path_apps::serve),
        )
        .route("/%40{user}/{workspace}/apps/{slug}", any(path_apps::serve))
        .route("/%40{user}/{workspace}/apps/{slug}/", any(path_apps::serve))
        .route(
            "/%40{user}/{workspace}/apps/{slug}/{*rest}",
            any(path_apps::serve),
        )
}

/// For other replicas of the deployment.
fn replicas() -> Router<App> {
    Router::new().route(
        "/internal/v1/agents/{workspaceagent}/dial",
        get(tunnels::relayed_dial),
    )
}

/// The API for people who make templates.
fn template_routes() -> Router<App> {
    Router::new()
        .route("/files", post(files::upload))
        .route("/files/{file}", get(files::download))
        .route("/templates/examples", get(templates::examples))
        .route("/organizations/{organization}/templates/examples", get(templates::examples))
        .route("/organizations/{organization}/templates", get(templates::list_in).post(templates::create))
        .route("/organizations/{organization}/templates/{templatename}", get(templates::get_by_name))
        .route(
            "/organizations/{organization}/templates/{templatename}/versions/{templateversionname}",
            get(template_versions::get_by_names),
        )
        .route(
            "/organizations/{organization}/templates/{templatename}/versions/{templateversionname}/previous",
            get(template_versions::previous),
        )
        .route("/organizations/{organization}/templateversions", post(template_versions::create))
        .route("/templates", get(templates::list))
        .route("/templates/{template}", get(templates::get).patch(templates::update).delete(templates::delete))
        .route("/templates/{template}/acl", get(templates::acl).patch(templates::update_acl))
        .route("/templates/{template}/acl/available", get(templates::acl_available))
        .route("/templates/{template}/daus", get(templates::daily_users))
        .route("/templates/{template}/versions", get(template_versions::list).patch(templates::promote))
        .route("/templates/{template}/versions/archive", post(templates::archive_versions))
        .route("/templates/{template}/versions/{templateversionname}", get(template_versions::get_by_name))
        .route("/templateversions/{templateversion}", get(template_versions::get).patch(template_versions::update))
        .route("/templateversions/{templateversion}/cancel", patch(template_versions::cancel))
        .route("/templateversions/{templateversion}/archive", post(template_versions::archive))
        .route("/templateversions/{templateversion}/unarchive", post(template_versions::unarchive))
        .route("/templateversions/{templateversion}/logs", get(template_versions::logs))
        .route("/templateversions/{templateversion}/resources", get(template_versions::resources))
        .route("/templateversions/{templateversion}/rich-parameters", get(template_versions::parameters))
        .route("/templateversions/{templateversion}/parameters", get(template_versions::legacy))
        .route("/templateversions/{templateversion}/schema", get(template_versions::legacy))
        .route("/templateversions/{templateversion}/variables", get(template_versions::variables))
        .route("/templateversions/{templateversion}/presets", get(template_versions::presets))
        .route("/templateversions/{templateversion}/external-auth", get(template_versions::external_auth))
        .route("/templateversions/{templateversion}/dry-run", post(template_versions::dry_run))
        .route("/templateversions/{templateversion}/dry-run/{job}", get(template_versions::dry_run_get))
        .route("/templateversions/{templateversion}/dry-run/{job}/cancel", patch(template_versions::dry_run_cancel))
        .route("/templateversions/{templateversion}/dry-run/{job}/logs", get(template_versions::dry_run_logs))
        .route("/templateversions/{templateversion}/dry-run/{job}/resources", get(template_versions::dry_run_resources))
        .route(
            "/templateversions/{templateversion}/dry-run/{job}/matched-provisioners",
            get(template_versions::dry_run_matched),
        )
}

/// The API for people who use workspaces.
fn workspace_routes() -> Router<App> {
    Router::new()
        .route("/workspaces", get(workspaces::list))
        .route("/users/{user}/workspaces", post(workspaces::create))
        .route(
            "/organizations/{organization}/members/{user}/workspaces",
            post(workspaces::create),
        )
        .route(
            "/users/{user}/workspace/{workspacename}",
            get(workspaces::get_by_name),
        )
        .route(
            "/users/{user}/workspace/{workspacename}/builds/{buildnumber}",
            get(builds::get_by_number),
        )
        .route(
            "/users/{user}/autofill-parameters",
            get(workspaces::autofill),
        )
        .route(
            "/workspaces/{workspace}",
            get(workspaces::get).patch(workspaces::rename),
        )
        .route(
            "/workspaces/{workspace}/autostart",
            put(workspaces::set_autostart),
        )
        .route("/workspaces/{workspace}/ttl", put(workspaces::set_ttl))
        .route("/workspaces/{workspace}/extend", put(workspaces::extend))
        .route(
            "/workspaces/{workspace}/dormant",
            put(workspaces::set_dormant),
        )
        .route(
            "/workspaces/{workspace}/favorite",
            put(workspaces::favor).delete(workspaces::unfavor),
        )
        .route(
            "/workspaces/{workspace}/autoupdates",
            put(workspaces::set_automatic_updates),
        )
        .route("/workspaces/{workspace}/usage", post(workspaces::usage))
        .route(
            "/workspaces/{workspace}/resolve-autostart",
            get(workspaces::resolve_autostart),
        )
        .route("/workspaces/{workspace}/timings", get(workspaces::timings))
        .route("/workspaces/{workspace}/watch", get(workspaces::watch))
        .route(
            "/workspaces/{workspace}/watch-ws",
            get(workspaces::watch_ws),
        )
        .route("/workspaces/watch-ws", get(workspaces::watch_list))
        .route(
            "/workspaces/{workspace}/port-share",
            get(workspaces::port_shares)
                .post(workspaces::share_port)
                .delete(workspaces::unshare_port),
        )
        .route(
            "/workspaces/{workspace}/builds",
            get(builds::list).post(builds::create),
        )
        .route("/workspaceagents/{workspaceagent}", get(workspaces::agent))
        .route("/workspacebuilds/{workspacebuild}", get(builds::get))
        .route(
            "/workspacebuilds/{workspacebuild}/cancel",
            patch(builds::cancel),
        )
        .route("/workspacebuilds/{workspacebuild}/logs", get(builds::logs))
        .route(
            "/workspacebuilds/{workspacebuild}/parameters",
            get(builds::parameters),
        )
        .route(
            "/workspacebuilds/{workspacebuild}/resources",
            get(builds::resources),
        )
        .route(
            "/workspacebuilds/{workspacebuild}/state",
            get(builds::state).put(builds::set_state),
        )
        .route(
            "/workspacebuilds/{workspacebuild}/timings",
            get(builds::timings),
        )
}
