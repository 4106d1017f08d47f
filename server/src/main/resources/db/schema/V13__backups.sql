-- Finished backups of the whole installation, by `keelson backup` or another tool. Servers report the age of the latest one.
create table if not exists installation_backups (
    ended_at timestamptz primary key default clock_timestamp(),
    tool varchar(64) not null,
    place varchar(1024)
);

comment on table installation_backups is 'Finished backups of the installation, of 400 days.';
comment on column installation_backups.ended_at is 'when it was complete';
comment on column installation_backups.tool is 'such as keelson, pg_dump or pgbackrest';
comment on column installation_backups.place is 'where it is; null if unknown';
