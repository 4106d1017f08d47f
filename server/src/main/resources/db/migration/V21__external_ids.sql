-- External ids that runs take over from those that have ended.
drop type if exists keelson_external_id;
create type keelson_external_id as (workspace_id uuid, external_id text);
