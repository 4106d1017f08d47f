-- People and services that an identity provider vouches for (docs/operate/sign-in.md).
create table if not exists federated_identities (
    workspace_id uuid not null references workspaces (id) on delete cascade,
    issuer varchar(500) not null,
    subject varchar(255) not null,
    key_id uuid not null references api_keys (id) on delete cascade,
    valid_from timestamptz not null default 'epoch',
    primary key (workspace_id, issuer, subject)
);

comment on table federated_identities is 'Subjects of identity providers, by the workspace that they have a role in.';
comment on column federated_identities.key_id is
    'key that has the principal and the scopes of the role; it has no text that a request could send';
comment on column federated_identities.valid_from is 'tokens issued before are refused: an administrator revoked the key then';

create index if not exists ix_federated_identities_key on federated_identities (key_id);

create table if not exists federated_sessions (
    session_id uuid primary key references sessions (id) on delete cascade,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    issuer varchar(500) not null,
    subject varchar(255) not null,
    provider_session varchar(255),
    sealing_key_id varchar(40) not null,
    tokens bytea not null,
    refresh_at timestamptz
);

comment on table federated_sessions is 'Sessions of browsers at their identity provider, with their encrypted tokens.';
comment on column federated_sessions.provider_session is 'session at the provider (sid), which its logout names';
comment on column federated_sessions.tokens is 'refresh token and ID token, encrypted';
comment on column federated_sessions.refresh_at is
    'when the tokens are exchanged for new ones; while a server does so, the end of its lease; null: never';

create index if not exists ix_federated_sessions_subject on federated_sessions (issuer, subject);
create index if not exists ix_federated_sessions_refresh on federated_sessions (refresh_at) where refresh_at is not null;
create index if not exists ix_federated_sessions_workspace on federated_sessions (workspace_id);

-- A sign-in has its state in the browser. It is here once the sign-in was completed, so that it is used once.
create table if not exists sign_in_states (
    state_hash bytea primary key,
    expires_at timestamptz not null
);

comment on table sign_in_states is 'States of completed sign-ins, by their hash.';

select keelson_enable_rls('federated_identities', 'workspace_id = (select keelson_workspace())', true);
select keelson_enable_rls('federated_sessions', 'workspace_id = (select keelson_workspace())', true);
select keelson_enable_rls('sign_in_states', 'false');
