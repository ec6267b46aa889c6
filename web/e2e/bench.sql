-- What the benchmark of the web UI looks at: copies of the workspace `bench`, and a long log of its build.
-- Run by psql with the variables `workspaces` and `lines`.

create function pg_temp.copy_of(source uuid, number integer, what text) returns uuid language sql immutable as
$$ select md5(source::text || number || what)::uuid $$;

create temporary table numbers as select generate_series(2, :workspaces) as n;
create temporary table origin as
    select w.id, b.id as build_id, b.job_id from workspaces w
        join workspace_builds b on b.workspace_id = w.id where w.name = 'bench' order by b.build_number limit 1;

insert into provisioner_jobs (id, organization_id, initiator_id, type, input, file_id, tags, created_at, updated_at,
        started_at, completed_at, worker_id, logs_length)
    select pg_temp.copy_of(j.id, n, 'job'), j.organization_id, j.initiator_id, j.type, j.input, j.file_id, j.tags,
        j.created_at, j.updated_at, j.started_at, j.completed_at, j.worker_id, j.logs_length
    from numbers, origin join provisioner_jobs j on j.id = origin.job_id;

insert into workspaces
    select (jsonb_populate_record(w, jsonb_build_object('id', pg_temp.copy_of(w.id, n, 'workspace'),
        'name', 'bench-' || lpad(n::text, 5, '0')))).*
    from numbers, origin join workspaces w on w.id = origin.id;

-- Every third one is stopped.
insert into workspace_builds
    select (jsonb_populate_record(b, jsonb_build_object('id', pg_temp.copy_of(b.id, n, 'build'),
        'workspace_id', pg_temp.copy_of(b.workspace_id, n, 'workspace'), 'job_id', pg_temp.copy_of(b.job_id, n, 'job'),
        'transition', case when n % 3 = 0 then 'stop' else b.transition end))).*
    from numbers, origin join workspace_builds b on b.id = origin.build_id;

insert into workspace_resources
    select (jsonb_populate_record(r, jsonb_build_object('id', pg_temp.copy_of(r.id, n, 'resource'),
        'job_id', pg_temp.copy_of(r.job_id, n, 'job')))).*
    from numbers, origin join workspace_resources r on r.job_id = origin.job_id where n % 3 <> 0;

-- They stay connected for as long as anybody looks.
insert into workspace_agents
    select (jsonb_populate_record(a, jsonb_build_object('id', pg_temp.copy_of(a.id, n, 'agent'),
        'resource_id', pg_temp.copy_of(a.resource_id, n, 'resource'), 'auth_token_hash', null,
        'last_connected_at', now() + interval '1 day', 'disconnected_at', null))).*
    from numbers, origin join workspace_resources r on r.job_id = origin.job_id
        join workspace_agents a on a.resource_id = r.id where n % 3 <> 0;

insert into workspace_apps
    select (jsonb_populate_record(p, jsonb_build_object('id', pg_temp.copy_of(p.id, n, 'app'),
        'agent_id', pg_temp.copy_of(p.agent_id, n, 'agent')))).*
    from numbers, origin join workspace_resources r on r.job_id = origin.job_id
        join workspace_agents a on a.resource_id = r.id join workspace_apps p on p.agent_id = a.id where n % 3 <> 0;

insert into provisioner_job_logs (job_id, created_at, source, level, stage, output)
    select job_id, now(), 'provisioner', case when line % 1000 = 0 then 'warn' else 'info' end, 'Starting workspace',
        'null_resource.item[' || line || ']: Creation complete after 0s [id=' || md5(line::text) || ']'
    from origin, generate_series(1, :lines) as line;

analyze;
