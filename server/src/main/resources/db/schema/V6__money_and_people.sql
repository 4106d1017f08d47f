-- Credits and prices (docs/concepts/money.md), what waits for people (docs/guide/inbox.md), and what makes runs at times
-- (docs/guide/schedules.md).

-- Money: 1 credit is 1 USD; amounts are exact, with six places. Costs have twelve, and a run is charged their sum, rounded once.

-- A workspace's balance in slots (docs/adr/0019): a commit changes one of them, so that commits at the same time seldom wait
-- for each other. All of a workspace are locked in the order of their numbers. Changed in the transaction that writes the
-- ledger's rows, but for what an open attempt has charged, which is added to spent when the attempt is settled.
create table if not exists credit_slots (
    workspace_id uuid not null,
    slot smallint not null constraint ck_credit_slots_slot check (slot between 0 and 3),
    funded keelson_amount not null default 0,
    available numeric(20, 6) not null default 0,
    withheld keelson_amount not null default 0,
    spent keelson_amount not null default 0,
    primary key (workspace_id, slot),
    constraint ck_credit_slots_available check (available < 'NaN' and (available >= 0 or withheld > 0))
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

comment on table credit_slots is 'Parts of a workspace''s balance; only their sums have a meaning.';
comment on column credit_slots.funded is 'what funding gave, less what it got back; reserved is what is neither available nor spent';
comment on column credit_slots.available is
    'what runs may reserve; below zero while more is reserved and spent than a lowered usd_per_month allows';
comment on column credit_slots.withheld is 'available credits that usd_per_month does not leave to runs';

create or replace view credit_balances with (security_invoker = true) as
select workspace_id, sum(available + withheld) as available,
    sum(funded - available - withheld - spent) as reserved, sum(spent) as spent
  from credit_slots
 group by workspace_id;

comment on view credit_balances is 'Credits of a workspace by account: the fold of its ledger.';

-- A workspace is born with its accounts, with any statement that makes it.
create or replace function keelson_open_balances() returns trigger language plpgsql as $$
begin
    insert into credit_slots (workspace_id, slot) select id, slot from made cross join generate_series(0, 3) as slot
        on conflict do nothing;
    return null;
end $$;

create or replace trigger workspaces_open_balances after insert on workspaces
    referencing new table as made for each statement execute function keelson_open_balances();

insert into credit_slots (workspace_id, slot) select id, slot from workspaces cross join generate_series(0, 3) as slot
    on conflict do nothing;

-- What a row of the ledger may be: the accounts follow from the type, only corrections choose theirs and say why. What a
-- run does names the run and its attempt. A correction is rare, and its conditions are set up only where there is one.
create or replace function keelson_transfer_valid(transaction_type varchar, amount numeric, debit varchar,
    credit varchar, run_id uuid, attempt_number integer, detail jsonb, cost numeric) returns boolean language plpgsql immutable as $$
begin
    if transaction_type = 'adjustment' then
        return amount > 0 and amount < 'NaN'::numeric and cost is null
            and (run_id is null) = (attempt_number is null) and coalesce(attempt_number >= 1, true)
            and debit <> credit and coalesce(length(detail ->> 'reason') > 0, false)
            and debit in ('funding', 'available', 'reserved', 'spent')
            and credit in ('funding', 'available', 'reserved', 'spent');
    end if;
    return amount < 'NaN'::numeric
        and case when cost is null then amount > 0
            else transaction_type = 'charge' and amount >= 0 and cost > 0 and cost < 'NaN' and abs(amount - cost) <= 0.000001 end
        and (run_id is null) = (attempt_number is null) and coalesce(attempt_number, 1) >= 1
        and strpos(' charge:reserved:spent:t reserve:available:reserved:t refund:reserved:available:t'
            ' grant:funding:available:f ',
            concat(' ', transaction_type, ':', debit, ':', credit, ':', run_id is not null, ' ')) > 0;
end $$;

-- One row is one transfer from an account (debit) to another (credit) of the workspace. It refers to nothing, so that
-- nothing can take it away: it stays when run and workspace are gone.
create table if not exists billing_ledger (
    id bigint generated always as identity,
    workspace_id uuid not null,
    transaction_type varchar(12) not null,
    amount numeric(20, 6) not null,
    cost numeric(26, 12),
    debit_account varchar(10) not null,
    credit_account varchar(10) not null,
    run_id uuid,
    attempt_number integer,
    step_id uuid,
    idempotency_key text not null,
    tool text,
    model text,
    agent text,
    tokens bigint,
    usage jsonb,
    price_version integer,
    purpose varchar(12) constraint ck_billing_ledger_purpose check (purpose in ('planning', 'verification', 'compaction')),
    estimated boolean,
    actor_type varchar(20) not null,
    actor_id varchar(255),
    detail jsonb,
    created_at timestamptz not null,
    primary key (workspace_id, id),
    constraint uq_billing_ledger_key unique (workspace_id, idempotency_key, transaction_type),
    constraint ck_billing_ledger_valid check (keelson_transfer_valid(transaction_type, amount, debit_account,
        credit_account, run_id, attempt_number, detail, cost)),
    constraint ck_billing_ledger_usage check (case when usage is null then coalesce(tokens, 0) = 0
        else keelson_usage_valid(usage, tokens) end)
);

comment on table billing_ledger is 'Append-only double-entry ledger of credits. It has no reference to workspaces, because its entries stay when the workspace is deleted. Only the server writes it, in one transaction with credit_slots, for a run or a request of a workspace that exists.';
comment on column billing_ledger.amount is 'credits; of a charge what the rounded sum of the run''s costs has grown by, 0 where it has not';
comment on column billing_ledger.cost is 'of a charge, exact; null where it is the amount';
comment on column billing_ledger.idempotency_key is 'with the type, unique per workspace: nothing is booked twice';
comment on column billing_ledger.usage is 'the parts of the tokens; null when there are none';
comment on column billing_ledger.purpose is 'of a charge; null for work';
comment on column billing_ledger.estimated is
    'true where tokens are an upper bound, as no answer reported them; null elsewhere';
comment on column billing_ledger.price_version is 'of the price list that the amount was calculated by; null: reported';

create index if not exists ix_billing_ledger_run on billing_ledger (run_id, id) where run_id is not null;
create index if not exists ix_billing_ledger_created on billing_ledger using brin (created_at);

create or replace trigger billing_ledger_no_change before update or delete on billing_ledger
    for each row execute function keelson_refuse_change();
create or replace trigger billing_ledger_no_truncate before truncate on billing_ledger
    for each statement execute function keelson_refuse_change();

-- The limit usd_per_month of a workspace withholds the available credits that it does not leave (docs/adr/0023). What a run
-- reserves, is charged and is refunded changes what is left of the month by as much as what is available, so commits of runs
-- need no further check. A new month, another limit and a grant do not: keelson_withhold divides the credits again then.
create table if not exists credit_months (
    workspace_id uuid primary key,
    month date not null,
    spent_before numeric(20, 6) not null
);

comment on table credit_months is 'The month for which credits of a workspace with usd_per_month are withheld.';
comment on column credit_months.month is 'its first day, in UTC';
comment on column credit_months.spent_before is 'charges and corrections before the month, as the ledger has them';

create or replace function keelson_month(at timestamptz) returns date language sql immutable as
    $$ select date_trunc('month', at at time zone 'UTC')::date $$;

-- What the workspace has reserved and spent, less what it had spent before the month. Until the month has begun, the ledger is
-- read for what was spent since then; "execute" plans that with the values, so that only the month's pages are read.
create or replace function keelson_used_in_month(of_workspace uuid, at timestamptz) returns numeric language plpgsql stable as $$
declare
    used numeric;
    spent numeric;
    before numeric;
    since numeric;
begin
    select sum(s.funded - s.available - s.withheld), sum(s.spent) into used, spent
      from credit_slots s where workspace_id = of_workspace;
    select spent_before into before from credit_months where workspace_id = of_workspace and month = keelson_month(at);
    if before is null then
        execute 'select coalesce(sum(case credit_account when ''spent'' then amount else -amount end), 0)
                   from billing_ledger
                  where workspace_id = $1 and ''spent'' in (debit_account, credit_account) and created_at >= $2'
           into since using of_workspace, keelson_month(at)::timestamp at time zone 'UTC';
        before := spent - since;
    end if;
    return used - before;
end $$;

-- The same; null for a workspace without usd_per_month.
create or replace function keelson_month_use(of_workspace uuid, at timestamptz) returns numeric language sql stable as $$
    select keelson_used_in_month(workspace_id, at) from workspace_limits
     where workspace_id = of_workspace and name = 'usd_per_month'
$$;

create or replace function keelson_withhold(of_workspace uuid, at timestamptz) returns void language plpgsql as $$
declare
    most numeric;
    whole numeric;
    free numeric;
begin
    perform from credit_slots where workspace_id = of_workspace order by slot for no key update;
    select l.most into most from workspace_limits l where workspace_id = of_workspace and name = 'usd_per_month';
    if most is not null and not exists (
            select from credit_months where workspace_id = of_workspace and month = keelson_month(at)) then
        insert into credit_months values (of_workspace, keelson_month(at),
            (select sum(funded - available - withheld) - keelson_used_in_month(of_workspace, at)
               from credit_slots where workspace_id = of_workspace))
            on conflict (workspace_id) do update set month = excluded.month, spent_before = excluded.spent_before;
    end if;
    select sum(available + withheld) into whole from credit_slots where workspace_id = of_workspace;
    free := case when most is null then whole else least(whole, most - keelson_used_in_month(of_workspace, at)) end;
    update credit_slots set
        available = trunc(free / 4, 6) + case slot when 0 then free - 4 * trunc(free / 4, 6) else 0 end,
        withheld = trunc((whole - free) / 4, 6)
            + case slot when 0 then whole - free - 4 * trunc((whole - free) / 4, 6) else 0 end
     where workspace_id = of_workspace;
end $$;

create or replace function keelson_month_limit_changed() returns trigger language plpgsql as $$
begin
    perform keelson_withhold(coalesce(new.workspace_id, old.workspace_id), clock_timestamp());
    return null;
end $$;

create or replace trigger workspace_limits_of_month_set after insert or update on workspace_limits
    for each row when (new.name = 'usd_per_month') execute function keelson_month_limit_changed();

create or replace trigger workspace_limits_of_month_gone after delete on workspace_limits
    for each row when (old.name = 'usd_per_month') execute function keelson_month_limit_changed();

-- All versions of the installation's price list. The price of a name is its row with the highest version; all prices
-- null: withdrawn.
create table if not exists prices (
    version integer not null check (version >= 1),
    kind varchar(10) not null,
    name text not null check (length(name) between 1 and 255),
    usd_per_call numeric(26, 12),
    usd_per_million_input numeric(20, 6),
    usd_per_million_cache_read numeric(20, 6),
    usd_per_million_cache_write numeric(20, 6),
    usd_per_million_output numeric(20, 6),
    created_at timestamptz not null,
    created_by varchar(255) not null,
    primary key (kind, name, version),
    constraint ck_prices_valid check (case kind
        when 'tool' then num_nonnulls(usd_per_million_input, usd_per_million_cache_read, usd_per_million_cache_write,
                usd_per_million_output) = 0
            and coalesce(usd_per_call between 0 and 99999999999999.999999, true)
        when 'model' then usd_per_call is null
            and (usd_per_million_input is null) = (usd_per_million_output is null)
            and (usd_per_million_input is not null
                or num_nonnulls(usd_per_million_cache_read, usd_per_million_cache_write) = 0)
            and coalesce(least(usd_per_million_input, usd_per_million_cache_read, usd_per_million_cache_write,
                usd_per_million_output), 0) >= 0
            and coalesce(greatest(usd_per_million_input, usd_per_million_cache_read, usd_per_million_cache_write,
                usd_per_million_output), 0) <= 99999999999999.999999
        else false end)
);

comment on table prices is 'Prices in credits: of a call of a tool, of a million tokens of a model.';
comment on column prices.usd_per_million_input is 'of tokens that the provider''s cache neither had nor kept';
comment on column prices.usd_per_million_cache_read is 'of input from the provider''s cache; null: as other input';
comment on column prices.usd_per_million_cache_write is 'of input that the provider''s cache kept; null: as other input';
comment on column prices.usd_per_million_output is 'reasoning included';

create or replace trigger prices_no_change before update or delete on prices
    for each row execute function keelson_refuse_change();
create or replace trigger prices_no_truncate before truncate on prices
    for each statement execute function keelson_refuse_change();

-- What waits for people.

create table if not exists escalation_tickets (
    id uuid primary key,
    workspace_id uuid not null,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    attempt integer not null check (attempt >= 1),
    kind varchar(30) not null check (kind in ('failure', 'replan_approval')),
    task_id uuid,
    step_id uuid,
    severity varchar(20) not null check (severity in ('medium', 'high', 'critical')),
    reason varchar(100) not null,
    error_code varchar(100),
    system text,
    message text not null,
    state varchar(20) not null generated always as (case when resolution is null then 'open' else 'resolved' end)
        stored,
    resolution varchar(20) check (resolution in ('resume', 'skip', 'fail', 'cancel', 'void')),
    resolved_by varchar(255),
    comment text,
    opened_at timestamptz not null,
    resolved_at timestamptz,
    constraint ck_escalation_tickets_resolved check ((resolution is null) = (resolved_at is null))
);

comment on table escalation_tickets is
    'Questions that the failure policy asks a person; an escalated run waits for their answers.';
comment on column escalation_tickets.severity is 'rises when no answer comes';
comment on column escalation_tickets.system is
    'the system outside of Keelson that is out of order, such as model:NAME; null where none is known to be';
comment on column escalation_tickets.resolution is 'void: what it asked about has ended without an answer';

create index if not exists ix_escalation_tickets_open on escalation_tickets (workspace_id, opened_at, id)
    where resolution is null;
create index if not exists ix_escalation_tickets_run on escalation_tickets (run_id);
create index if not exists ix_escalation_tickets_workspace
    on escalation_tickets (workspace_id, opened_at desc, id desc);

-- One that has expired is as good as decided, and stays pending here: nothing follows from it.
create table if not exists proposals (
    id uuid primary key,
    workspace_id uuid not null,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    attempt integer not null check (attempt >= 1),
    task_id uuid not null,
    step_id uuid not null,
    title varchar(200) not null,
    body text,
    data jsonb,
    state varchar(20) not null default 'pending' check (state in ('pending', 'accepted', 'rejected', 'withdrawn')),
    created_at timestamptz not null,
    expires_at timestamptz,
    decided_at timestamptz,
    decided_by varchar(255),
    comment text,
    constraint ck_proposals_decided check ((state = 'pending') = (decided_at is null))
);

comment on table proposals is 'Proposals of steps that people accept or reject; they hold nothing up.';

create index if not exists ix_proposals_run on proposals (run_id, id);
create index if not exists ix_proposals_workspace on proposals (workspace_id, created_at desc, id desc);
create index if not exists ix_proposals_pending on proposals (workspace_id, created_at, id) where state = 'pending';

create table if not exists inbox_assignments (
    subject uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    run_id uuid references orchestration_runs (id) on delete cascade,
    since timestamptz not null,
    assignee varchar(100),
    due_at timestamptz,
    assigned_by varchar(255),
    assigned_at timestamptz not null,
    foreign key (workspace_id, assignee) references principals (workspace_id, name) on delete cascade
);

comment on table inbox_assignments is 'Assignee and due time of inbox items.';
comment on column inbox_assignments.since is 'when that item began to wait: an assignment counts for it only';

create index if not exists ix_inbox_assignments_run on inbox_assignments (run_id);
create index if not exists ix_inbox_assignments_assignee on inbox_assignments (workspace_id, assignee)
    where assignee is not null;

-- Each version as it was: runs say which one they are of.
create table if not exists recipe_versions (
    recipe_id uuid not null references workflow_recipes (recipe_id) on delete cascade,
    version integer not null check (version >= 1),
    workspace_id uuid not null,
    mission json not null,
    created_by varchar(255) not null,
    created_at timestamptz not null,
    primary key (recipe_id, version)
);

comment on table recipe_versions is 'The versions of a recipe; never changed.';
comment on column recipe_versions.mission is 'as it was given, with its members in their order';

create table if not exists schedules (
    id uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    name varchar(200) not null,
    recipe_id uuid references workflow_recipes (recipe_id),
    inputs jsonb not null default '{}',
    mission jsonb,
    cron varchar(250) not null,
    time_zone varchar(60) not null,
    overlap varchar(20) not null check (overlap in ('allow', 'skip', 'queue', 'cancel_running')),
    catch_up varchar(20) not null check (catch_up in ('skip', 'latest', 'all')),
    catch_up_window_seconds integer not null check (catch_up_window_seconds > 0),
    jitter_seconds integer not null check (jitter_seconds >= 0),
    end_at timestamptz,
    max_runs integer check (max_runs > 0),
    runs_made integer not null default 0,
    times_missed integer not null default 0,
    paused boolean not null default false,
    next_run_at timestamptz,
    wake_at timestamptz,
    version integer not null default 1,
    created_by varchar(255) not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    unique (workspace_id, name),
    constraint ck_schedules_what check ((recipe_id is null) <> (mission is null))
) with (fillfactor = 80);

comment on table schedules is 'When runs are to be made of recipes or missions by themselves.';
comment on column schedules.wake_at is 'when it is to be looked at: its next time, or while times of it are left to act upon';

create index if not exists ix_schedules_wake on schedules (wake_at) where wake_at is not null;
create index if not exists ix_schedules_recipe on schedules (recipe_id) where recipe_id is not null;

-- The key makes each time one run, however often it is acted upon; the run's id is here before there is a run.
create table if not exists schedule_ticks (
    schedule_id uuid not null references schedules (id) on delete cascade,
    scheduled_for timestamptz not null,
    kind varchar(10) not null check (kind in ('cron', 'manual', 'backfill')),
    workspace_id uuid not null,
    run_id uuid not null,
    fire_at timestamptz not null,
    state varchar(10) not null check (state in ('due', 'queued', 'made', 'skipped', 'failed')),
    at_work boolean not null default false,
    error_code varchar(100),
    error_message text,
    decided_at timestamptz,
    primary key (schedule_id, scheduled_for, kind),
    constraint ck_schedule_ticks_open check ((decided_at is null) = (state in ('due', 'queued')))
);

comment on table schedule_ticks is 'Times of schedules and what became of them.';
comment on column schedule_ticks.fire_at is 'scheduled_for and the jitter';
comment on column schedule_ticks.at_work is 'its run has not been seen to have ended';

create index if not exists ix_schedule_ticks_open on schedule_ticks (schedule_id, fire_at) where decided_at is null;
create index if not exists ix_schedule_ticks_at_work on schedule_ticks (schedule_id) where at_work;

-- For the engine's one look at what is due: costs a look into an index, which is empty where there are no schedules.
create or replace function keelson_schedules_due(at timestamptz) returns boolean language sql stable as $$
    select (select min(wake_at) from schedules where wake_at is not null) <= at
$$;

create table if not exists mcp_servers (
    workspace_id uuid not null references workspaces (id) on delete cascade,
    name varchar(64) not null check (name ~ '^[a-z0-9][a-z0-9_-]*$'),
    definition jsonb not null,
    revision integer not null default 1 check (revision >= 1),
    spoken varchar(20),
    error text,
    checked_at timestamptz,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    updated_by varchar(255) not null,
    primary key (workspace_id, name)
);

comment on table mcp_servers is 'Servers of the Model Context Protocol whose tools a workspace uses.';
comment on column mcp_servers.revision is 'rises with each change of the definition';
comment on column mcp_servers.spoken is 'revision of the protocol that the server was last found to speak';
comment on column mcp_servers.error is 'of the last look at its tools; null when it succeeded';

create table if not exists mcp_tools (
    workspace_id uuid not null references workspaces (id) on delete cascade,
    server varchar(64) not null,
    name varchar(128) not null,
    accepted jsonb,
    seen jsonb,
    change uuid,
    changed_at timestamptz,
    primary key (workspace_id, server, name)
);

comment on table mcp_tools is 'Tools of these servers, as they may be used and as their servers describe them.';
comment on column mcp_tools.accepted is 'null for a tool that may not be used';
comment on column mcp_tools.seen is 'null for a tool that the server has no more';
comment on column mcp_tools.change is
    'id of the question whether the changed description is accepted; null where none waits for an answer';

create unique index if not exists uq_mcp_tools_change on mcp_tools (change) where change is not null;

-- A step whose tool waits elsewhere is deferred; this is what it continues with.
create table if not exists call_waits (
    step_id uuid primary key,
    workspace_id uuid not null,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    task_id uuid not null,
    system varchar(64) not null,
    tool varchar(200) not null,
    state varchar(10) not null check (state in ('sent', 'asked', 'answered', 'task')),
    server_state text,
    remote_task text,
    questions json,
    answers jsonb,
    answered_by varchar(255),
    rounds integer not null default 0,
    lease_epoch integer not null,
    since timestamptz not null
);

comment on table call_waits is 'Calls of tools of other servers that have been sent and have no result yet.';
comment on column call_waits.state is
    'sent: its outcome is unknown; asked: a person is to answer; answered: to be sent again; task: works on the other server';
comment on column call_waits.lease_epoch is 'of the lease under which the step''s holder stored the row last';
comment on column call_waits.server_state is 'what the other server wants to have back with the answers';
comment on column call_waits.questions is 'json: the fields of a form stay in their order';
comment on column call_waits.remote_task is 'the task''s id on the other server';

create index if not exists ix_call_waits_run on call_waits (run_id);
create index if not exists ix_call_waits_asked on call_waits (workspace_id, since) where state = 'asked';
create index if not exists ix_call_waits_since on call_waits (since);

-- All that waits for people. Timers are last, because there may be many of them.
create or replace view open_questions with (security_invoker = true) as
select workspace_id, 'budget' as kind, id as subject, id as run_id, state_since as asked_at, null::timestamptz as due_at,
    null::timestamptz as expires_at, null as cause
  from orchestration_runs
 where state_type = 'paused' and state = 'budget_exceeded'
union all
select workspace_id, 'proposal', id, run_id, created_at, expires_at, expires_at, null
  from proposals p
 where state = 'pending' and (select r.deleted_at from orchestration_runs r where r.id = p.run_id) is null
union all
select workspace_id, 'elicitation', step_id, run_id, since, null, null, null
  from call_waits w
 where state = 'asked' and exists (select from orchestration_steps s where s.id = w.step_id and s.state = 'running')
union all
select workspace_id, 'tool_change', change, null, changed_at, null, null, null
  from mcp_tools
 where change is not null
union all
select workspace_id, question, subject, run_id, asked_at, answer_by, null, cause
  from timers
 where kind = 'human';

comment on view open_questions is 'Inbox items; the workspace''s rule or an assignment gives the due time of those without one.';
comment on column open_questions.subject is 'the run, task, step, ticket, proposal or change of a tool that it is about';
comment on column open_questions.expires_at is 'the question is no longer open after this time';
comment on column open_questions.cause is 'equal for tickets about one failure; null for others';
