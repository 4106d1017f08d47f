-- The folders that tools may use for one workspace, instead of those that the server's settings name.
alter table workspaces add column if not exists allowed_folders text[];

comment on column workspaces.allowed_folders is
    'absolute paths on every server; empty: no folder; null: the folders of the server''s settings';
