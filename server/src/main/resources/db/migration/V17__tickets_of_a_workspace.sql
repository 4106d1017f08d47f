-- Tickets of a workspace, answered ones included, newest first.
create index concurrently if not exists ix_escalation_tickets_workspace
    on escalation_tickets (workspace_id, opened_at desc, id desc);
