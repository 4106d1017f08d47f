-- Reports are written with their text, which outlives what they are about; a run's is a summary however the run ended.
comment on column agent_reports.content is
    'Markdown as it was written; empty for a run or a task that ended under an older server';

drop type if exists keelson_report_run_v2;
create type keelson_report_run_v2 as (run_id uuid, failures int4, tokens int8, cost numeric);

update agent_reports set report_type = 'summary' where report_type = 'incident' and subject_id = run_id;
