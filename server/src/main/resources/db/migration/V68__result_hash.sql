-- A hash of the output as the worker reported it: a repeated report is told from another result under the same lease.
alter table work_results add column if not exists output_hash bigint;

comment on column work_results.output_hash is
    'of the output as reported, before secrets were redacted; null for failures and for results of the server itself';

drop type if exists keelson_result_new_v4;
create type keelson_result_new_v4 as (step_id uuid, epoch int4, run_id uuid, outcome text, attempt int4,
    started_at timestamptz, input jsonb, output_hash int8, error_code text, error_class text, error_message text,
    model text, tokens int8, cost numeric, holder text);
