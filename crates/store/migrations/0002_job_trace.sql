-- Where the trace of the request that made a job goes on, as W3C trace context by header.
alter table provisioner_jobs add column trace_metadata jsonb;
