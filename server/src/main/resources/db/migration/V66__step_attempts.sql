-- What each attempt of a step was given, when it began and how it failed, beside its result.
alter table work_results
    add column if not exists attempt integer,
    add column if not exists started_at timestamptz,
    add column if not exists input jsonb,
    add column if not exists error_class text,
    add column if not exists error_message text;

comment on column work_results.input is
    'resolved input, secrets redacted, cut above 64 KiB; null when the plan''s input has no expressions';

drop type if exists keelson_result_new_v2;
create type keelson_result_new_v2 as (step_id uuid, epoch int4, run_id uuid, outcome text, attempt int4,
    started_at timestamptz, input jsonb, error_code text, error_class text, error_message text, tokens int8,
    cost numeric, holder text);
