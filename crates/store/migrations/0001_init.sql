-- The first schema. Names follow the resources of the API. Words are text with a check, so that
-- adding one is an ordinary migration; times are timestamptz; every foreign key says what deletion does.

-- ---------------------------------------------------------------- deployment

create table site_configs (
    key   text primary key,
    value text not null
);

-- Keys that the deployment makes for itself and rotates.
create table crypto_keys (
    feature    text        not null,
    sequence   integer     not null,
    secret     bytea       not null,
    starts_at  timestamptz not null,
    deletes_at timestamptz,
    primary key (feature, sequence)
);

-- Server processes that share this database.
create table replicas (
    id            uuid        primary key,
    hostname      text        not null,
    relay_address text        not null default '',
    version       text        not null,
    started_at    timestamptz not null,
    updated_at    timestamptz not null,
    stopped_at    timestamptz
);

-- ---------------------------------------------------------------- people

create table users (
    id              uuid        primary key,
    email           text        not null,
    username        text        not null,
    name            text        not null default '',
    hashed_password text        not null default '',
    created_at      timestamptz not null,
    updated_at      timestamptz not null,
    last_seen_at    timestamptz,
    status          text        not null check (status in ('active', 'dormant', 'suspended')),
    login_type      text        not null check (login_type in ('password', 'github', 'oidc', 'token', 'none')),
    roles           text[]      not null default '{}',
    avatar_url      text        not null default '',
    deleted         boolean     not null default false
);
create unique index users_username on users (lower(username)) where not deleted;
create unique index users_email on users (lower(email)) where not deleted and email <> '';

create table user_configs (
    user_id uuid not null references users (id) on delete cascade,
    key     text not null,
    value   text not null,
    primary key (user_id, key)
);

create table api_keys (
    id               text        primary key,
    hashed_secret    bytea       not null,
    user_id          uuid        not null references users (id) on delete cascade,
    created_at       timestamptz not null,
    updated_at       timestamptz not null,
    last_used        timestamptz,
    expires_at       timestamptz not null,
    lifetime_seconds bigint      not null,
    login_type       text        not null check (login_type in ('password', 'github', 'oidc', 'token', 'none')),
    scope            text        not null default 'all' check (scope in ('all', 'application_connect')),
    token_name       text        not null default '',
    ip               text        not null default ''
);
create index api_keys_user on api_keys (user_id);
create unique index api_keys_token_name on api_keys (user_id, token_name) where login_type = 'token';

-- The key pair with which a user's workspaces reach git servers. The private half is sealed.
create table git_ssh_keys (
    user_id            uuid        primary key references users (id) on delete cascade,
    created_at         timestamptz not null,
    updated_at         timestamptz not null,
    public_key         text        not null,
    private_key_sealed bytea       not null
);

create table organizations (
    id           uuid        primary key,
    name         text        not null,
    display_name text        not null,
    description  text        not null default '',
    icon         text        not null default '',
    created_at   timestamptz not null,
    updated_at   timestamptz not null,
    is_default   boolean     not null default false,
    deleted      boolean     not null default false
);
create unique index organizations_name on organizations (lower(name)) where not deleted;
create unique index organizations_default on organizations (is_default) where is_default;

create table organization_members (
    user_id         uuid        not null references users (id) on delete cascade,
    organization_id uuid        not null references organizations (id) on delete cascade,
    created_at      timestamptz not null,
    updated_at      timestamptz not null,
    roles           text[]      not null default '{}',
    primary key (organization_id, user_id)
);
create index organization_members_user on organization_members (user_id);

create table audit_logs (
    id                uuid        primary key,
    time              timestamptz not null,
    user_id           uuid,
    organization_id   uuid,
    ip                text        not null default '',
    user_agent        text        not null default '',
    resource_type     text        not null,
    resource_id       uuid        not null,
    resource_target   text        not null,
    resource_icon     text        not null default '',
    action            text        not null,
    diff              jsonb       not null default '{}',
    status_code       integer     not null,
    additional_fields jsonb       not null default '{}',
    request_id        uuid        not null
);
create index audit_logs_time on audit_logs (time desc);
create index audit_logs_resource on audit_logs (resource_type, resource_id);

-- ---------------------------------------------------------------- jobs

create table files (
    id         uuid        primary key,
    hash       text        not null,
    created_at timestamptz not null,
    created_by uuid        not null references users (id) on delete cascade,
    mimetype   text        not null,
    data       bytea       not null,
    unique (hash, created_by)
);
create index files_created_by on files (created_by);

create table provisioner_daemons (
    id              uuid        primary key,
    organization_id uuid        not null references organizations (id) on delete cascade,
    replica_id      uuid        references replicas (id) on delete cascade,
    name            text        not null,
    created_at      timestamptz not null,
    last_seen_at    timestamptz,
    version         text        not null,
    api_version     text        not null,
    provisioners    text[]      not null,
    tags            jsonb       not null
);
create index provisioner_daemons_organization on provisioner_daemons (organization_id);
create index provisioner_daemons_replica on provisioner_daemons (replica_id);

create table provisioner_jobs (
    id              uuid        primary key,
    organization_id uuid        not null references organizations (id) on delete cascade,
    initiator_id    uuid        not null references users (id) on delete cascade,
    type            text        not null check (type in ('template_version_import', 'template_version_dry_run', 'workspace_build')),
    -- What the job works on: template_version_id or workspace_build_id, and options of the run.
    input           jsonb       not null,
    file_id         uuid        not null references files (id) on delete restrict,
    tags            jsonb       not null,
    created_at      timestamptz not null,
    updated_at      timestamptz not null,
    started_at      timestamptz,
    canceled_at     timestamptz,
    completed_at    timestamptz,
    worker_id       uuid,
    error           text,
    error_code      text,
    logs_length     integer     not null default 0,
    logs_overflowed boolean     not null default false,
    job_status      text        not null generated always as (
        case
            when error is not null and error <> '' then 'failed'
            when completed_at is not null and canceled_at is not null then 'canceled'
            when completed_at is not null then 'succeeded'
            when canceled_at is not null then 'canceling'
            when started_at is null then 'pending'
            else 'running'
        end
    ) stored
);
create index provisioner_jobs_organization on provisioner_jobs (organization_id);
create index provisioner_jobs_initiator on provisioner_jobs (initiator_id);
create index provisioner_jobs_file on provisioner_jobs (file_id);
create index provisioner_jobs_worker on provisioner_jobs (worker_id);
create index provisioner_jobs_pending on provisioner_jobs (created_at) where started_at is null and completed_at is null and canceled_at is null;
create index provisioner_jobs_active on provisioner_jobs (updated_at) where completed_at is null;

create table provisioner_job_logs (
    id         bigint      generated always as identity primary key,
    job_id     uuid        not null references provisioner_jobs (id) on delete cascade,
    created_at timestamptz not null,
    source     text        not null check (source in ('provisioner_daemon', 'provisioner')),
    level      text        not null check (level in ('trace', 'debug', 'info', 'warn', 'error')),
    stage      text        not null,
    output     text        not null
);
create index provisioner_job_logs_job on provisioner_job_logs (job_id, id);

create table provisioner_job_timings (
    job_id     uuid        not null references provisioner_jobs (id) on delete cascade,
    started_at timestamptz not null,
    ended_at   timestamptz not null,
    stage      text        not null check (stage in ('init', 'plan', 'graph', 'apply')),
    source     text        not null,
    action     text        not null,
    resource   text        not null
);
create index provisioner_job_timings_job on provisioner_job_timings (job_id);

-- ---------------------------------------------------------------- templates

create table templates (
    id                                uuid        primary key,
    organization_id                   uuid        not null references organizations (id) on delete cascade,
    created_at                        timestamptz not null,
    updated_at                        timestamptz not null,
    deleted                           boolean     not null default false,
    name                              text        not null,
    display_name                      text        not null default '',
    description                       text        not null default '',
    icon                              text        not null default '',
    active_version_id                 uuid        not null,
    created_by                        uuid        not null references users (id) on delete restrict,
    -- Whether every member of the organization may read and use it.
    everyone_access                   boolean     not null default true,
    default_ttl_ms                    bigint      not null default 0,
    activity_bump_ms                  bigint      not null default 3600000,
    allow_user_cancel_workspace_jobs  boolean     not null default true,
    allow_user_autostart              boolean     not null default true,
    allow_user_autostop               boolean     not null default true,
    -- Monday is the first element; empty is "no requirement".
    autostart_days                    text[]      not null default '{monday,tuesday,wednesday,thursday,friday,saturday,sunday}',
    autostop_days                     text[]      not null default '{}',
    autostop_weeks                    bigint      not null default 1,
    failure_ttl_ms                    bigint      not null default 0,
    time_til_dormant_ms               bigint      not null default 0,
    time_til_dormant_autodelete_ms    bigint      not null default 0,
    require_active_version            boolean     not null default false,
    deprecation_message               text        not null default '',
    max_port_share_level              text        not null default 'public' check (max_port_share_level in ('owner', 'authenticated', 'organization', 'public')),
    use_classic_parameter_flow        boolean     not null default true
);
create unique index templates_name on templates (organization_id, lower(name)) where not deleted;
create index templates_created_by on templates (created_by);

create table template_versions (
    id                      uuid        primary key,
    template_id             uuid        references templates (id) on delete cascade,
    organization_id         uuid        not null references organizations (id) on delete cascade,
    created_at              timestamptz not null,
    updated_at              timestamptz not null,
    name                    text        not null,
    message                 text        not null default '',
    readme                  text        not null default '',
    job_id                  uuid        not null unique references provisioner_jobs (id) on delete cascade,
    created_by              uuid        not null references users (id) on delete restrict,
    archived                boolean     not null default false,
    source_example_id       text,
    -- [{"id":…,"optional":…}]
    external_auth_providers jsonb       not null default '[]',
    has_ai_task             boolean,
    has_external_agent      boolean,
    -- The dependency graph of the configuration (DOT), which builds of the version use again.
    graph                   text        not null default ''
);
create unique index template_versions_name on template_versions (template_id, lower(name));
create index template_versions_organization on template_versions (organization_id);
create index template_versions_created_by on template_versions (created_by);

alter table templates add constraint templates_active_version
    foreign key (active_version_id) references template_versions (id) on delete restrict deferrable initially deferred;
create index templates_active_version on templates (active_version_id);

create table template_version_parameters (
    template_version_id  uuid    not null references template_versions (id) on delete cascade,
    name                 text    not null,
    display_name         text    not null default '',
    description          text    not null default '',
    type                 text    not null,
    form_type            text    not null default '',
    mutable              boolean not null,
    default_value        text    not null default '',
    icon                 text    not null default '',
    -- [{"name":…,"description":…,"value":…,"icon":…}]
    options              jsonb   not null default '[]',
    validation_regex     text    not null default '',
    validation_min       integer,
    validation_max       integer,
    validation_error     text    not null default '',
    validation_monotonic text    not null default '',
    required             boolean not null,
    ephemeral            boolean not null default false,
    display_order        integer not null default 0,
    position             integer not null,
    primary key (template_version_id, name)
);

-- Values may be secrets, so all are sealed.
create table template_version_variables (
    template_version_id uuid    not null references template_versions (id) on delete cascade,
    name                text    not null,
    description         text    not null default '',
    type                text    not null,
    value_sealed        bytea   not null,
    default_value       text    not null default '',
    required            boolean not null,
    sensitive           boolean not null,
    position            integer not null default 0,
    primary key (template_version_id, name)
);

create table template_version_workspace_tags (
    template_version_id uuid not null references template_versions (id) on delete cascade,
    key                 text not null,
    value               text not null,
    primary key (template_version_id, key)
);

create table template_version_presets (
    id                  uuid    primary key,
    template_version_id uuid    not null references template_versions (id) on delete cascade,
    name                text    not null,
    description         text    not null default '',
    icon                text    not null default '',
    is_default          boolean not null default false,
    desired_instances   integer,
    position            integer not null,
    -- [{"name":…,"value":…}]
    parameters          jsonb   not null default '[]',
    unique (template_version_id, name)
);

-- ---------------------------------------------------------------- workspaces

create table workspaces (
    id                 uuid        primary key,
    organization_id    uuid        not null references organizations (id) on delete cascade,
    owner_id           uuid        not null references users (id) on delete restrict,
    template_id        uuid        not null references templates (id) on delete restrict,
    name               text        not null,
    created_at         timestamptz not null,
    updated_at         timestamptz not null,
    deleted            boolean     not null default false,
    autostart_schedule text,
    ttl_ms             bigint,
    last_used_at       timestamptz not null,
    dormant_at         timestamptz,
    deleting_at        timestamptz,
    automatic_updates  text        not null default 'never' check (automatic_updates in ('always', 'never')),
    favorite           boolean     not null default false,
    next_start_at      timestamptz
);
create unique index workspaces_name on workspaces (owner_id, lower(name)) where not deleted;
create index workspaces_organization on workspaces (organization_id);
create index workspaces_template on workspaces (template_id);
create index workspaces_owner on workspaces (owner_id);

create table workspace_builds (
    id                         uuid        primary key,
    workspace_id               uuid        not null references workspaces (id) on delete cascade,
    template_version_id        uuid        not null references template_versions (id) on delete restrict,
    template_version_preset_id uuid        references template_version_presets (id) on delete set null,
    build_number               integer     not null,
    transition                 text        not null check (transition in ('start', 'stop', 'delete')),
    reason                     text        not null,
    initiator_id               uuid        not null references users (id) on delete restrict,
    job_id                     uuid        not null unique references provisioner_jobs (id) on delete cascade,
    created_at                 timestamptz not null,
    updated_at                 timestamptz not null,
    deadline                   timestamptz,
    max_deadline               timestamptz,
    daily_cost                 integer     not null default 0,
    has_ai_task                boolean,
    -- Terraform's state, sealed: it carries agent tokens and whatever else a template keeps secret.
    state_sealed               bytea,
    unique (workspace_id, build_number)
);
create index workspace_builds_template_version on workspace_builds (template_version_id);
create index workspace_builds_preset on workspace_builds (template_version_preset_id);
create index workspace_builds_initiator on workspace_builds (initiator_id);
create index workspace_builds_latest on workspace_builds (workspace_id, build_number desc);

create table workspace_build_parameters (
    workspace_build_id uuid not null references workspace_builds (id) on delete cascade,
    name               text not null,
    value              text not null,
    primary key (workspace_build_id, name)
);

create table workspace_agent_port_shares (
    workspace_id uuid    not null references workspaces (id) on delete cascade,
    agent_name   text    not null,
    port         integer not null,
    share_level  text    not null check (share_level in ('owner', 'authenticated', 'organization', 'public')),
    protocol     text    not null check (protocol in ('http', 'https')),
    primary key (workspace_id, agent_name, port)
);

-- ---------------------------------------------------------------- resources and agents

create table workspace_resources (
    id            uuid        primary key,
    job_id        uuid        not null references provisioner_jobs (id) on delete cascade,
    created_at    timestamptz not null,
    transition    text        not null check (transition in ('start', 'stop', 'delete')),
    type          text        not null,
    name          text        not null,
    hide          boolean     not null default false,
    icon          text        not null default '',
    instance_type text        not null default '',
    daily_cost    integer     not null default 0,
    module_path   text        not null default '',
    position      integer     not null default 0
);
create index workspace_resources_job on workspace_resources (job_id);

-- A sensitive value is sealed and `value` is empty.
create table workspace_resource_metadata (
    resource_id  uuid    not null references workspace_resources (id) on delete cascade,
    key          text    not null,
    value        text    not null default '',
    value_sealed bytea,
    sensitive    boolean not null default false,
    position     integer not null default 0,
    primary key (resource_id, key)
);

create table workspace_agents (
    id                         uuid        primary key,
    resource_id                uuid        not null references workspace_resources (id) on delete cascade,
    parent_id                  uuid        references workspace_agents (id) on delete cascade,
    name                       text        not null,
    created_at                 timestamptz not null,
    updated_at                 timestamptz not null,
    first_connected_at         timestamptz,
    last_connected_at          timestamptz,
    disconnected_at            timestamptz,
    started_at                 timestamptz,
    ready_at                   timestamptz,
    -- SHA-256 of the token; null in imports and dry runs, whose agents never connect.
    auth_token_hash            bytea       unique,
    auth_instance_id           text,
    architecture               text        not null,
    operating_system           text        not null,
    environment_variables      jsonb       not null default '{}',
    directory                  text        not null default '',
    expanded_directory         text        not null default '',
    version                    text        not null default '',
    api_version                text        not null default '',
    connection_timeout_seconds integer     not null default 0,
    troubleshooting_url        text        not null default '',
    motd_file                  text        not null default '',
    lifecycle_state            text        not null default 'created' check (lifecycle_state in
        ('created', 'starting', 'start_timeout', 'start_error', 'ready', 'shutting_down', 'shutdown_timeout', 'shutdown_error', 'off')),
    logs_length                integer     not null default 0,
    logs_overflowed            boolean     not null default false,
    subsystems                 text[]      not null default '{}',
    display_apps               text[]      not null default '{}',
    api_key_scope              text        not null default 'all' check (api_key_scope in ('all', 'no_user_data')),
    display_order              integer     not null default 0,
    deleted                    boolean     not null default false
);
create index workspace_agents_resource on workspace_agents (resource_id);
create index workspace_agents_parent on workspace_agents (parent_id);

-- Which server process holds an agent's connection. `generation` lets a late goodbye of an old
-- connection be told from the current one.
create table workspace_agent_connections (
    agent_id     uuid        primary key references workspace_agents (id) on delete cascade,
    replica_id   uuid        not null references replicas (id) on delete cascade,
    generation   uuid        not null,
    connected_at timestamptz not null,
    -- How long a ping over the connection took last; null before the first.
    latency_ms   double precision
);
create index workspace_agent_connections_replica on workspace_agent_connections (replica_id);

create table workspace_agent_log_sources (
    workspace_agent_id uuid        not null references workspace_agents (id) on delete cascade,
    id                 uuid        not null,
    created_at         timestamptz not null,
    display_name       text        not null,
    icon               text        not null default '',
    primary key (workspace_agent_id, id)
);

create table workspace_agent_scripts (
    id                 uuid    primary key,
    workspace_agent_id uuid    not null references workspace_agents (id) on delete cascade,
    log_source_id      uuid    not null,
    log_path           text    not null default '',
    script             text    not null,
    cron               text    not null default '',
    start_blocks_login boolean not null default false,
    run_on_start       boolean not null default false,
    run_on_stop        boolean not null default false,
    timeout_seconds    integer not null default 0,
    display_name       text    not null default '',
    position           integer not null default 0
);
create index workspace_agent_scripts_agent on workspace_agent_scripts (workspace_agent_id);

create table workspace_agent_script_timings (
    script_id  uuid        not null references workspace_agent_scripts (id) on delete cascade,
    started_at timestamptz not null,
    ended_at   timestamptz not null,
    exit_code  integer     not null,
    stage      text        not null check (stage in ('start', 'stop', 'cron')),
    status     text        not null check (status in ('ok', 'exit_failure', 'timed_out', 'pipes_left_open')),
    primary key (script_id, started_at)
);

create table workspace_agent_logs (
    id            bigint      generated always as identity primary key,
    agent_id      uuid        not null references workspace_agents (id) on delete cascade,
    log_source_id uuid        not null,
    created_at    timestamptz not null,
    level         text        not null check (level in ('trace', 'debug', 'info', 'warn', 'error')),
    output        text        not null
);
create index workspace_agent_logs_agent on workspace_agent_logs (agent_id, id);

create table workspace_agent_metadata (
    workspace_agent_id uuid        not null references workspace_agents (id) on delete cascade,
    key                text        not null,
    display_name       text        not null default '',
    script             text        not null,
    value              text        not null default '',
    error              text        not null default '',
    timeout_seconds    bigint      not null default 0,
    interval_seconds   bigint      not null default 0,
    collected_at       timestamptz,
    display_order      integer     not null default 0,
    position           integer     not null default 0,
    primary key (workspace_agent_id, key)
);

create table workspace_agent_stats (
    id                           bigint           generated always as identity primary key,
    created_at                   timestamptz      not null,
    user_id                      uuid             not null references users (id) on delete cascade,
    agent_id                     uuid             not null references workspace_agents (id) on delete cascade,
    workspace_id                 uuid             not null references workspaces (id) on delete cascade,
    template_id                  uuid             not null references templates (id) on delete cascade,
    connections_by_proto         jsonb            not null default '{}',
    connection_count             bigint           not null default 0,
    connection_median_latency_ms double precision not null default -1,
    rx_packets                   bigint           not null default 0,
    rx_bytes                     bigint           not null default 0,
    tx_packets                   bigint           not null default 0,
    tx_bytes                     bigint           not null default 0,
    session_count_vscode         bigint           not null default 0,
    session_count_jetbrains      bigint           not null default 0,
    session_count_reconnecting_pty bigint         not null default 0,
    session_count_ssh            bigint           not null default 0
);
create index workspace_agent_stats_time on workspace_agent_stats (created_at);
create index workspace_agent_stats_user on workspace_agent_stats (user_id);
create index workspace_agent_stats_agent on workspace_agent_stats (agent_id);
create index workspace_agent_stats_workspace on workspace_agent_stats (workspace_id);
create index workspace_agent_stats_template on workspace_agent_stats (template_id);

create table workspace_apps (
    id                    uuid    primary key,
    agent_id              uuid    not null references workspace_agents (id) on delete cascade,
    slug                  text    not null,
    display_name          text    not null default '',
    icon                  text    not null default '',
    command               text,
    url                   text,
    healthcheck_url       text    not null default '',
    healthcheck_interval  integer not null default 0,
    healthcheck_threshold integer not null default 0,
    health                text    not null default 'disabled' check (health in ('disabled', 'initializing', 'healthy', 'unhealthy')),
    subdomain             boolean not null default false,
    sharing_level         text    not null default 'owner' check (sharing_level in ('owner', 'authenticated', 'organization', 'public')),
    external              boolean not null default false,
    hidden                boolean not null default false,
    open_in               text    not null default 'slim-window' check (open_in in ('slim-window', 'tab', 'window')),
    display_group         text,
    display_order         integer not null default 0,
    position              integer not null default 0,
    unique (agent_id, slug)
);

-- ---------------------------------------------------------------- notifications

create table notification_preferences (
    user_id     uuid        not null references users (id) on delete cascade,
    template_id uuid        not null,
    disabled    boolean     not null,
    updated_at  timestamptz not null,
    primary key (user_id, template_id)
);

create table inbox_notifications (
    id          uuid        primary key,
    user_id     uuid        not null references users (id) on delete cascade,
    template_id uuid        not null,
    targets     uuid[]      not null default '{}',
    title       text        not null,
    content     text        not null,
    icon        text        not null default '',
    actions     jsonb       not null default '[]',
    read_at     timestamptz,
    created_at  timestamptz not null
);
create index inbox_notifications_user on inbox_notifications (user_id, created_at desc);
