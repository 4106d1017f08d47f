-- A database that others made may have the column already, without a reference to Keelson's tasks. What it names in rows
-- of theirs is not looked at.
do $$ begin
    if not exists (select from pg_constraint where contype = 'f' and conrelid = 'agent_reports'::regclass
            and confrelid = 'orchestration_tasks'::regclass) then
        alter table agent_reports add constraint agent_reports_orchestration_task_id_fkey
            foreign key (orchestration_task_id) references orchestration_tasks (id) on delete set null not valid;
    end if;
end $$;
