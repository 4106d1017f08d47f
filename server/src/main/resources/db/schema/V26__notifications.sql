-- Messages for people (docs/guide/notifications.md). Their deliveries have the body of a signed webhook, of which the sender makes
-- the message.
alter table webhook_endpoints add column if not exists format varchar(10) not null default 'standard';
alter table webhook_endpoints add column if not exists recipient varchar(100);
alter table webhook_endpoints add column if not exists quiet_from varchar(5);
alter table webhook_endpoints add column if not exists quiet_until varchar(5);
alter table webhook_endpoints add column if not exists time_zone varchar(60);
alter table webhook_endpoints add column if not exists digest_minutes integer not null default 0;

comment on column webhook_endpoints.format is 'standard, slack, teams or mail';
comment on column webhook_endpoints.recipient is 'principal that may answer questions by the links of messages; null for no links';
comment on column webhook_endpoints.quiet_from is 'with quiet_until and time_zone: hours in which messages wait; null for none';
comment on column webhook_endpoints.digest_minutes is 'minutes for which messages are gathered in one; 0 for a message each';
