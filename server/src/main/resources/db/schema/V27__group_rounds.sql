-- Rounds of groups: of an earlier round one row is left for each task of the group.
alter table task_rounds add column if not exists member text not null default '';
comment on column task_rounds.member is 'name of the task in its group; empty for a task with repeat';

do $$
begin
    if not exists (select from information_schema.key_column_usage k
                    where k.table_schema = current_schema() and k.constraint_name = 'task_rounds_pkey'
                      and k.column_name = 'member') then
        alter table task_rounds drop constraint task_rounds_pkey;
        alter table task_rounds add constraint task_rounds_pkey primary key (loop_id, round, member);
    end if;
end $$;
