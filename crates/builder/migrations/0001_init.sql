-- The processes that share this database. One that is not seen for a while is dead, and its jobs are others'.
create table replicas (
    id      uuid primary key,
    seen_at timestamptz not null default now()
);

-- Callers take turns: the one whose last turn is longest ago is next.
create table callers (
    name text primary key,
    turn bigint not null default 0
);
create sequence turns;

create table jobs (
    id               uuid primary key,
    number           bigint generated always as identity,
    caller           text not null references callers,
    state            text not null check (state in ('queued', 'running', 'succeeded', 'failed', 'canceled')),
    created_at       timestamptz not null default now(),
    started_at       timestamptz,
    ended_at         timestamptz,
    attempts         integer not null default 0,
    -- Without its secrets: those stay in the memory of the replica that was given them.
    request          json not null,
    had_secrets      boolean not null,
    idempotency_key  text,
    request_digest   text,
    result           json,
    error            json,
    -- Who runs it; for one with secrets, also who alone can.
    replica          uuid,
    cancel_requested boolean not null default false,
    unique (caller, idempotency_key)
);
create index jobs_queued on jobs (caller, number) where state = 'queued';
create index jobs_running on jobs (caller) where state = 'running';
create index jobs_ended on jobs (ended_at desc) where ended_at is not null;

-- `json` and not `jsonb`, which takes no text with a zero character, and programs write such lines.
create table job_events (
    job    uuid not null references jobs on delete cascade,
    number integer not null,
    body   json not null,
    primary key (job, number)
);

create table logs (
    id         text primary key,
    kind       text not null,
    is_closed  boolean not null default false,
    changed_at timestamptz not null default now()
);
create index logs_by_age on logs (kind, changed_at desc);

create table log_chunks (
    log      text not null references logs on delete cascade,
    position bigint not null,
    bytes    bytea not null,
    primary key (log, position)
);

-- Events for the replicas, in the form that coder_store::pubsub reads: a topic, a line end, a payload.
-- `jobs` is for those who begin jobs or run them, `job:<id>` for those who follow one.
create function tell_jobs() returns trigger language plpgsql as $$
begin
    perform pg_notify('coder_events', E'jobs\n');
    return null;
end $$;
create trigger jobs_tell after insert or update of state, cancel_requested on jobs
    for each statement execute function tell_jobs();

create function tell_events() returns trigger language plpgsql as $$
begin
    perform pg_notify('coder_events', 'job:' || added.job || E'\n') from (select distinct job from new_rows) as added;
    return null;
end $$;
create trigger job_events_tell after insert on job_events referencing new table as new_rows
    for each statement execute function tell_events();
