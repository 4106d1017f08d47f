-- How far the events have been followed by whoever writes runs' status documents into the artifact store, and who that is.
-- There is no row where no server was ever set up to write them.
create table if not exists document_marks (
    only_one boolean primary key default true check (only_one),
    event_id bigint not null,
    holder uuid not null,
    held_until timestamptz not null
);
select keelson_fence('document_marks', 'false');
