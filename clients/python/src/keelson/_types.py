"""Records of the HTTP API. Made by scripts/python-client; do not edit."""
from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, TypedDict

from keelson._document import Document


class Run(Document):
    """A run as the server shows it. JSON components are never Java null: an absent member is a JSON null. Money is …"""

    inputs_bytes: int | None
    """With `light`: the size of the inputs as JSON."""
    inputs_start: str | None
    """With `light`: their first 1,024 characters."""
    output_bytes: int | None
    """With `light`: size of the output as JSON, in bytes."""
    output_start: str | None
    """With `light`: first 1,024 characters of the output."""
    now: RunNow | None
    """In lists with the parameter `now` only: the first reason of the run's explanation, by its stable code. …"""
    id: str
    """Id of the resource."""
    workspace_id: str
    """Id of its workspace."""
    name: str
    """Name of the run."""
    description: str | None
    """Text for people."""
    goal: str | None
    """Goal from which a planner makes the plan; null without one."""
    agent_slug: str | None
    """The agent of the roster that it is about."""
    external_id: str | None
    """The caller's own name for it, unique in the workspace."""
    created_by: str | None
    """The principal that created it."""
    state: str
    """State of the run."""
    status: str
    """The same as state."""
    state_type: str
    """Kind of the state."""
    priority: int
    """Priority; lower numbers come first."""
    trigger: str | None
    """Source of the run, such as `manual` or `cron`"""
    plan: dict[str, Any] | None
    """The current plan; not in lists."""
    config: dict[str, Any] | None
    """As in the mission."""
    inputs: dict[str, Any] | None
    """Values of its inputs, by name; not in lists."""
    tags: list[str]
    """Tags of the run."""
    attempt_number: int
    """Number of the attempt, from 1."""
    max_attempts: int
    """Maximum number of attempts."""
    plan_version: int
    """Rises with every re-planning; 0 while a goal has no plan yet."""
    replans: int
    """Re-plannings of the attempt."""
    gate: str
    """Reason other than its tasks for which a running run waits."""
    open_escalations: int
    """Open escalation tickets."""
    escalation_ticket_id: str | None
    """The ticket that holds an escalated run up; of several the latest."""
    waits_for_humans: int
    """Decisions that only people can take and that are due now, tickets included."""
    start_at: datetime | None
    """When it was to start by itself."""
    recipe_id: str | None
    """The recipe of the run."""
    recipe_version: int | None
    """Version of its recipe; null without a recipe."""
    schedule_id: str | None
    """The schedule that made it."""
    scheduled_for: datetime | None
    """The time for which the schedule made it."""
    forked_from: str | None
    """The run that it was forked from."""
    fork_task: str | None
    """The task from which on it differs, by its id in the plan."""
    parent_run_id: str | None
    """The run whose step started this run."""
    parent_step_id: str | None
    """The step."""
    child_count: int
    """Number of child runs; list them by parent_run_id."""
    undo: RunUndo | None
    """The undo of an ended run; null if absent."""
    undoes: str | None
    """The run that this one undoes; null for any other run."""
    task_count: int
    """Number of tasks of the plan; planning tasks and hooks do not count."""
    tasks_completed: int
    """Number of these that have completed."""
    tasks_failed: int
    """Number of these that have failed."""
    tasks_skipped: int
    """Number of skipped tasks."""
    failures: int
    """Tasks that failed, and steps that failed in tasks that continued without them. A completed or skipped …"""
    steps_total: int
    """Number of steps."""
    steps_completed: int
    """Number of completed steps."""
    agent_count: int
    """Number of agents of the plan."""
    agent_names: list[str]
    """Names of agents of the latest attempt, the first ten in order."""
    credits_reserved: Decimal
    """Reserved by all of its attempts."""
    credits_charged: Decimal
    """Of all of its attempts, the open one included."""
    credits_refunded: Decimal
    """Refunds of ended attempts."""
    credits_uncollected: Decimal
    """Cost of its steps that could not be charged."""
    hard_limit_usd: Decimal | None
    """Current limit of the cost of all attempts together: set by budget, or the config's; null for no limit."""
    soft_limit_usd: Decimal | None
    """Current amount at which one warning is sent."""
    task_budgets: list[TaskBudget]
    """Of the tasks that have one, over all attempts."""
    total_tokens: int
    """Tokens of all attempts."""
    usage: TokenUsage | None
    """Tokens by their price; no token is in two of input, cache_read, cache_write and output, which sum up …"""
    total_cost: Decimal
    """Credits of all attempts."""
    output: Any
    """Output; null without one."""
    result_summary: str | None
    """The result: the first 2,000 characters of `output`. Without an output template, of the output of the …"""
    coordinator_agent_id: int | None
    """The agent of the roster that `agent_slug` names."""
    error_code: str | None
    """Code of the error; null without one."""
    error_message: str | None
    """Message of the error; null without one."""
    created_at: datetime
    """Time of its creation."""
    updated_at: datetime
    """Time of its last change."""
    started_at: datetime | None
    """Time of its start; null before it."""
    completed_at: datetime | None
    """Time of its end; null while it is open."""
    cancelled_at: datetime | None
    """`completed_at` of a cancelled run; null for others."""
    duration_ms: int | None
    """From its first start to its end, without `ended_ms`; null while it is open."""
    ended_ms: int
    """For how long it had ended before its retries."""
    active_ms: int | None
    """How long it worked in its present attempt, without the time that it was paused; null while it works."""
    last_heartbeat_at: datetime | None
    """When a worker or server with a lease of the run last showed that it is alive; null while the run has …"""
    version_id: int
    """Rises with every change."""
    archived_at: datetime | None
    """When it was archived: it can be read and restored, not changed; absent for other runs."""
    awaited: bool | None
    """Only in the response to a signal: whether a step of the plan waits or will wait for it."""
    _kinds = {
        "now": "RunNow", "plan": "{free}", "config": "{free}", "inputs": "{free}", "start_at": "time",
        "scheduled_for": "time", "undo": "RunUndo", "credits_reserved": "decimal", "credits_charged": "decimal",
        "credits_refunded": "decimal", "credits_uncollected": "decimal", "hard_limit_usd": "decimal",
        "soft_limit_usd": "decimal", "task_budgets": "[TaskBudget]", "usage": "TokenUsage", "total_cost": "decimal",
        "output": "free", "created_at": "time", "updated_at": "time", "started_at": "time", "completed_at": "time",
        "cancelled_at": "time", "last_heartbeat_at": "time", "archived_at": "time"
    }


class RunNow(Document):
    """The first reason of the run's explanation."""

    code: str
    """Code of the reason."""
    text: str
    """Explanation for people."""
    since: datetime | None
    """Since when the task or step is in this state."""
    until: datetime | None
    """When it is over by itself."""
    _kinds = {
        "since": "time", "until": "time"
    }


class RunUndo(Document):
    """The undo of an ended run, which is a run of its own. The counts are zero until that run ends."""

    state: str
    """`requested` before that run exists, `running` until it ends, `undone` if all of its tasks are undone …"""
    run_id: str | None
    """The run that undoes; null before it exists."""
    tasks: int
    """Number of its tasks."""
    undone: int
    """Tasks that completed."""
    by_hand: int
    """Tasks that a person has done by other means."""
    not_done: int
    """Tasks whose original was not done, by a person's answer."""
    not_undone: int
    """All other tasks."""
    waits_for_humans: int
    """Decisions of that run that only people can take and that are due now, without decisions about child runs."""
    requested_by: str
    """The principal that requested it; `system` if the run's configuration did."""
    reason: str | None
    """Reason of the request; null if absent."""
    requested_at: datetime
    """Time of the request."""
    error_code: str | None
    """Why it was refused; null if absent."""
    error_message: str | None
    """Text of the refusal; null if absent."""
    _kinds = {
        "requested_at": "time"
    }


class TaskBudget(Document):
    """The budget of a task in all attempts of its run."""

    task: str
    """Id of the task in the plan; of a for_each, the budget covers all items."""
    budget_usd: Decimal
    """Maximum cost; by the plan until a person raises it."""
    used: Decimal
    """Charges of its steps with the charges and possible costs of the runs that they started."""
    exceeded: bool
    """Whether it has stopped the run, which has not continued since."""
    _kinds = {
        "budget_usd": "decimal", "used": "decimal"
    }


class TokenUsage(Document):
    """Tokens of a model by their price. No token is in two of `input`, `cacheRead`, `cacheWrite` and `output`, …"""

    input: int
    """That the provider's cache neither had nor kept."""
    cache_read: int
    """Input from the provider's cache."""
    cache_write: int
    """Input that the provider's cache kept."""
    output: int
    """Written by the model, reasoning included."""
    reasoning: int
    """The part of output that is reasoning."""
    _kinds = {

    }


class RunAttempt(Document):
    """One attempt of a run. The end of an attempt is immutable; a retry opens the next one."""

    attempt_number: int
    """Number of the attempt, from 1."""
    state: str
    """State of the attempt."""
    started_at: datetime
    """Time of its start."""
    completed_at: datetime | None
    """Null while it is open."""
    error_code: str | None
    """Code of the error; null without one."""
    error_message: str | None
    """Message of the error; null without one."""
    failures: int
    """Tasks and steps that had failed when it ended."""
    credits_reserved: Decimal
    """Credits reserved for it."""
    credits_charged: Decimal
    """Credits that its steps were charged."""
    credits_refunded: Decimal
    """Reserved credits that were returned at its end."""
    credits_uncollected: Decimal
    """Cost of its steps in credits that could not be charged."""
    _kinds = {
        "started_at": "time", "completed_at": "time", "credits_reserved": "decimal", "credits_charged": "decimal",
        "credits_refunded": "decimal", "credits_uncollected": "decimal"
    }


class RunStatus(Document):
    """The status document of a run."""

    run_id: str
    """Id of the run, with the prefix `run_`"""
    agent_slug: str | None
    """Agent of tasks without `suggested_agent`"""
    status: str
    """State in the names of the contract `lifecycle`"""
    trigger: str | None
    """Source of the run, such as `manual` or `cron`"""
    started_at: datetime | None
    """Time of its start; null before it."""
    finished_at: datetime | None
    """Finished at."""
    current_step: str | None
    """Name of the step that is executed; null without one."""
    steps_total: int
    """Number of steps."""
    steps_completed: int
    """Number of completed steps."""
    proposals_created: list[str]
    """Ids of proposals of all attempts."""
    error: str | None
    """`CODE: message`. The code of a failed run is the run lifecycle contract's: NLM_UNAVAILABLE, …"""
    _kinds = {
        "started_at": "time", "finished_at": "time"
    }


class RunAgent(Document):
    """An agent of one run."""

    id: str
    """Id of the agent in this run."""
    number: int
    """Its position in the plan."""
    name: str | None
    """Null for the default agent of the run."""
    attempt: int
    """The run's attempt."""
    attempt_number: int
    """Its own attempt."""
    state: str
    """State of the agent."""
    state_type: str
    """Kind of the state."""
    failing: bool
    """Whether a task has failed and its other tasks are coming to their end."""
    failure_ignored: bool
    """Whether it failed and the run continued without it."""
    task_count: int
    """Its tasks, without superseded ones."""
    next_run_at: datetime | None
    """Time of its next attempt."""
    started_at: datetime | None
    """Time of its start; null before it."""
    completed_at: datetime | None
    """The last agent of a run ends with the run, after its result was put together and accepted."""
    tasks_ended_at: datetime | None
    """When the last of its tasks ended; null while one is open."""
    _kinds = {
        "next_run_at": "time", "started_at": "time", "completed_at": "time", "tasks_ended_at": "time"
    }


class Task(Document):
    """A task of a run."""

    id: str
    """Id of the resource."""
    run_id: str
    """Id of the run."""
    workspace_id: str
    """Id of its workspace."""
    key: str
    """Its id in the plan."""
    sequence_number: int
    """Its position in the plan."""
    title: str
    """Title of the task."""
    description: str | None
    """Text for people."""
    task_type: str
    """Kind of work (PRD-101); the engine's own tasks have types of their own."""
    success_criteria: str | None
    """Criteria that the output must meet; null if absent."""
    trigger_rule: str
    """Condition on upstream tasks under which it starts."""
    depends_on: list[str]
    """Keys of the tasks that it depends on."""
    group_id: str | None
    """Of an item of a fan-out: the task that fanned out; of a round: the task with `repeat`"""
    item_index: int | None
    """Of an item of a fan-out, from 0; of a round its number."""
    item: Any
    """The item of the fan-out."""
    round: int | None
    """Of a round of a `repeat`: its number, from 1; of the task with `repeat`: the number of its last round. …"""
    max_rounds: int | None
    """Of a task with `repeat`: the maximum number of its rounds; null for others."""
    flow: TaskFlow | None
    """Its place in the switches and groups of the plan; null outside of any."""
    reused_from: str | None
    """The task of an earlier attempt whose output was reused."""
    result_from: ResultSource | None
    """The step whose result its last step has taken over; null for others."""
    agent_id: int | None
    """Of an agent of the roster."""
    agent_type: str | None
    """Kind of its agent."""
    agent_name: str | None
    """Name of its agent."""
    model_override: str | None
    """Model of the task; null for the model of its agent."""
    tools_requested: list[str] | None
    """Names of the tools that its agent may use; null if absent."""
    board_task_id: int | None
    """Number of its board task; null without one."""
    state: str
    """State of the task."""
    state_type: str
    """Kind of the state."""
    effective_state: str
    """`paused` for an open task while its run is paused, escalated or stopped at its limit; else the `state`"""
    attempt: int
    """The run's attempt."""
    attempt_number: int
    """Its own attempt."""
    failures: int
    """Failed attempts so far."""
    continuation_count: int
    """How often its attempt has continued with another turn; turns after tool calls do not count."""
    step_count: int
    """The steps of its present attempt."""
    failure_ignored: bool
    """It failed, or all its steps or items that were not skipped did, and the run continued without it."""
    superseded: bool
    """Another row has taken its place, or no plan needs it any more."""
    next_run_at: datetime | None
    """Time of the next attempt; null while its ticket is open."""
    gate: int | None
    """The attempt in question while a person decides; null if absent."""
    ticket_id: str | None
    """Its open ticket."""
    verifier_score: Decimal | None
    """Score of the last verdict; null without one."""
    verified_by: str | None
    """Source of the last verdict: auto (a verifying tool) or human."""
    output: Any
    """In lists null where it is longer than 16384 bytes."""
    output_summary: str | None
    """The first 2000 characters of the output."""
    output_ref: str | None
    """Where the whole output is read, `/api/v1/tasks/{id`/output}; null if `output_summary` is the whole …"""
    output_bytes: int | None
    """With `light`: the size of the output as JSON."""
    output_start: str | None
    """With `light`: its first 1,024 characters."""
    item_bytes: int | None
    """With `light`: size of the item as JSON, in bytes."""
    item_start: str | None
    """With `light`: first 1,024 characters of the item."""
    omitted: list[str] | None
    """In lists and with `light`, the members whose values were omitted; the read of a single task returns them."""
    error_code: str | None
    """Code of the error; null without one."""
    error_message: str | None
    """Message of the last error; of an output before a person, the verifier's feedback."""
    error_class: str | None
    """Class of the error, which decides whether it is retried."""
    tokens_used: int
    """Of all its attempts."""
    cost: Decimal
    """Of all its attempts."""
    created_at: datetime
    """Time of its creation."""
    updated_at: datetime
    """Time of its last change."""
    queued_at: datetime | None
    """When it was last queued: later than `started_at` after a retry."""
    started_at: datetime | None
    """Time of its start; null before it."""
    completed_at: datetime | None
    """Time of its end; null while it is open."""
    cancelled_at: datetime | None
    """`completed_at` of a cancelled task; null for others."""
    duration_ms: int | None
    """From start to end."""
    version_id: int
    """Rises with every change."""
    _kinds = {
        "item": "free", "flow": "TaskFlow", "result_from": "ResultSource", "next_run_at": "time", "verifier_score":
        "decimal", "output": "free", "cost": "decimal", "created_at": "time", "updated_at": "time", "queued_at":
        "time", "started_at": "time", "completed_at": "time", "cancelled_at": "time"
    }


class TaskFlow(Document):
    """The place of a task in the switches and groups of its plan as it was written."""

    chooses: str | None
    """The switch whose branch the task chooses; null for other tasks."""
    ends: str | None
    """The switch or group that ends with the task; null for other tasks."""
    branches: list[TaskFlowBranch]
    """Of a task that chooses, in the order of their conditions."""
    within: list[TaskFlowPlace]
    """Branches and groups that contain the task, the outermost first."""
    _kinds = {
        "branches": "[TaskFlowBranch]", "within": "[TaskFlowPlace]"
    }


class TaskFlowBranch(Document):
    """A branch of a switch."""

    name: str
    """Unique in its switch."""
    when: str | None
    """Its condition; null for the branch that is chosen if no condition holds."""
    _kinds = {

    }


class TaskFlowPlace(Document):
    """A branch or group that contains a task."""

    of: str
    """Id of the switch or group."""
    branch: str | None
    """Name of the switch's branch; null for a group."""
    _kinds = {

    }


class ResultSource(Document):
    """The step whose result was taken over. Its run may be deleted or archived by now."""

    run_id: str
    """Run that computed the result."""
    task_id: str
    """Its task."""
    step_id: str
    """Its step."""
    _kinds = {

    }


class TaskRound(Document):
    """A round of a task or of a group with `repeat`. Of a group, it has the sums and the worst state of its tasks."""

    round: int
    """Number of the round."""
    task_id: str
    """Id of its task; of a folded round, that its task had; of a group, the id of one of its tasks."""
    folded: bool
    """Whether the round is all that is left: its task and steps are gone."""
    state: str
    """State of its task."""
    attempts: int
    """Number of its attempts; of a group, of the task with the most."""
    tokens_used: int
    """Of all its attempts."""
    cost: Decimal
    """Of all its attempts, in credits."""
    output: Any
    """Of a completed round; of a group, the outputs of its tasks by their names; null where it is longer …"""
    omitted: list[str] | None
    """`output` where its value was omitted."""
    error_code: str | None
    """Code of the error; null without one."""
    error_message: str | None
    """Message of the error; null without one."""
    started_at: datetime | None
    """Time of its start; null before it."""
    completed_at: datetime | None
    """Time of its end; null while it is open."""
    tasks: list[TaskRoundRoundTask] | None
    """Of a group: its tasks; null of a task."""
    _kinds = {
        "cost": "decimal", "output": "free", "started_at": "time", "completed_at": "time", "tasks":
        "[TaskRoundRoundTask]"
    }


class TaskRoundRoundTask(Document):
    """A task of a round of a group."""

    name: str
    """Its id in the group."""
    task_id: str
    """Its id; of a folded round, that it had."""
    state: str
    """State of the task."""
    _kinds = {

    }


class Step(Document):
    """A step of a task, the unit of a claim."""

    id: str
    """Id of the resource."""
    run_id: str
    """Id of the run."""
    task_id: str
    """Id of the task."""
    task_key: str
    """The id of its task in the plan."""
    superseded: bool
    """It belongs to a row or an attempt of its task that another has replaced."""
    name: str
    """Name in the plan."""
    kind: str
    """Kind of the step."""
    tool: str | None
    """Name of the tool; null for a wait."""
    position: int
    """In its task; the turns and calls of an agent share one."""
    turn: int
    """Counts the turns and calls of one position."""
    state: str
    """State of the step."""
    state_type: str
    """Kind of the state."""
    task_attempt: int
    """The attempt of its task that it belongs to."""
    attempt: int
    """Number of its attempt, from 0 before the first claim."""
    failures: int
    """Failed attempts so far."""
    failure_ignored: bool
    """It failed and its task continued without it."""
    input: Any
    """Resolved, once it has a result; before that the plan's. After a failure null where the plan's has …"""
    output: Any
    """In lists null where it is longer than 16384 bytes."""
    input_bytes: int | None
    """With `light`: the size of the input as JSON."""
    input_start: str | None
    """With `light`: its first 1,024 characters."""
    output_bytes: int | None
    """With `light`: size of the output as JSON, in bytes."""
    output_start: str | None
    """With `light`: first 1,024 characters of the output."""
    omitted: list[str] | None
    """In lists and with `light`, the members whose values were omitted; the read of a single step returns them."""
    max_attempts: int | None
    """Maximum number of attempts."""
    lease_epoch: int
    """Rises with every claim."""
    called_by: str | None
    """The step whose program has made the call; null for any other step."""
    result_from: ResultSource | None
    """The step whose result it has taken over, at no cost; null for a step that was executed."""
    error_code: str | None
    """Code of the error; null without one."""
    error_message: str | None
    """Message of the error; null without one."""
    error_class: str | None
    """Class of the error, which decides whether it is retried."""
    tokens: int
    """Tokens that it used."""
    cost: Decimal
    """Cost in credits."""
    progress: Decimal | None
    """Part that is done; as its worker last reported."""
    progress_message: str | None
    """Message of the last progress report."""
    next_run_at: datetime | None
    """Next run at."""
    started_at: datetime | None
    """Time of its start; null before it."""
    completed_at: datetime | None
    """Time of its end; null while it is open."""
    created_at: datetime
    """Time of its creation."""
    _kinds = {
        "input": "free", "output": "free", "result_from": "ResultSource", "cost": "decimal", "progress": "decimal",
        "next_run_at": "time", "started_at": "time", "completed_at": "time", "created_at": "time"
    }


class StepAttempt(Document):
    """One lease of a step: its input and its outcome."""

    attempt: int | None
    """Null for a lost lease."""
    lease_epoch: int
    """Epoch of the lease."""
    outcome: str
    """`lost`: its worker sent no more heartbeats; `released`: it ended without a result although its worker …"""
    worker: str | None
    """Worker or node that held the lease."""
    input: Any
    """Resolved, secrets redacted. Null where it has expressions and was not recorded, as while the attempt …"""
    output: Any
    """Of an attempt that completed or continued."""
    error_code: str | None
    """Code of the error; null without one."""
    error_class: str | None
    """Class of the error, which decides whether it is retried."""
    error_message: str | None
    """Message of the error; null without one."""
    tokens: int
    """Tokens that it used."""
    usage: TokenUsage | None
    """Tokens by their price; no token is in two of input, cache_read, cache_write and output, which sum up …"""
    cost: Decimal
    """Cost in credits."""
    started_at: datetime | None
    """Time of its start; null before it."""
    completed_at: datetime | None
    """Time of its end; null while it is open."""
    _kinds = {
        "input": "free", "output": "free", "usage": "TokenUsage", "cost": "decimal", "started_at": "time",
        "completed_at": "time"
    }


class Event(Document):
    """An event of a run."""

    id: int
    """Number in the order of the feed."""
    seq: int
    """Number within the run, from 1 without gaps."""
    run_id: str
    """Id of the run."""
    attempt: int
    """The run's attempt."""
    agent_id: str | None
    """The agent at work in the run that it is about."""
    task_id: str | None
    """Task of the event; null without one."""
    step_id: str | None
    """Step of the event; null without one."""
    event_type: str
    """Type of the event."""
    payload: dict[str, Any]
    """Members by the type."""
    actor_type: str | None
    """Kind of the actor; null if unknown."""
    actor_id: str | None
    """Id of the actor."""
    created_at: datetime
    """Time of its creation."""
    _kinds = {
        "payload": "{free}", "created_at": "time"
    }


class Explanation(Document):
    """Why something waits."""

    run_id: str
    """Id of the run."""
    task_id: str | None
    """Of a task or a step only."""
    step_id: str | None
    """Of a step only."""
    state: str
    """State of the run or task."""
    reasons: list[ExplanationReason]
    """Reasons of the wait."""
    tasks_left_out: int
    """A run has the reasons of its first 100 open tasks that could move. The number of such tasks beyond …"""
    _kinds = {
        "reasons": "[ExplanationReason]"
    }


class ExplanationReason(Document):
    """A reason of the wait."""

    code: str
    """Stable: UPSTREAM_OPEN, QUEUED, MISSING_WORKER, RUNNING, STEP_BACKOFF, TASK_REVIEW and so on."""
    text: str
    """Explanation for people."""
    task_id: str | None
    """Task that waits; null for the run."""
    step_id: str | None
    """Step that waits; null for the task or run."""
    until: datetime | None
    """When it is over by itself."""
    needed_usd: Decimal | None
    """Of a run that its limit or the budget of a task has stopped: the least new limit in credits with which …"""
    on: list[str]
    """Ids or names of tasks, a worker, a ticket or a tool that it waits for."""
    _kinds = {
        "until": "time", "needed_usd": "decimal"
    }


class Artifact(Document):
    """A file that a step left behind."""

    id: str
    """Id of the resource."""
    run_id: str
    """Id of the run."""
    task_id: str
    """Task that stored it."""
    step_id: str
    """Step that stored it."""
    attempt: int
    """The run's attempt."""
    name: str
    """Unique in the attempt."""
    content_type: str
    """Media type."""
    size_bytes: int
    """Size in bytes."""
    sha256: str
    """SHA-256 of the stored bytes, in hexadecimal."""
    created_at: datetime
    """Time of its creation."""
    expires_at: datetime | None
    """End of its retention; null until its run has ended."""
    deleted_at: datetime | None
    """Time of its deletion; null before it."""
    _kinds = {
        "created_at": "time", "expires_at": "time", "deleted_at": "time"
    }


class LogLine(Document):
    """A line that a step's executor wrote."""

    seq: int
    """Rises within the step; numbers may be left out."""
    attempt: int
    """The step's attempt."""
    message: str
    """Text of the line."""
    created_at: datetime
    """Time of the line."""
    _kinds = {
        "created_at": "time"
    }


class InboxItem(Document):
    """A question that waits for a person."""

    actions: list[InboxItemAction] | None
    """Only of a single item; the answers to it, each as a request to send."""
    id: str
    """Id of this question; not reused once it is answered."""
    kind: str
    """`plan_approval` and `result_acceptance` are about a run as a whole, `approval_step` about a step of …"""
    run_id: str | None
    """Null for a `tool_change` and a `dead_letter`"""
    run_name: str | None
    """Name of the run."""
    run_state: str | None
    """State of the run."""
    task_id: str | None
    """Task of the question; null for the run."""
    task_key: str | None
    """Id of the task in the plan."""
    task_title: str | None
    """Title of the task."""
    step_id: str | None
    """Step of the question; null for a task or the run."""
    step_name: str | None
    """Name of the step in the plan."""
    question: str
    """Question to the person."""
    on_accept: str
    """Consequence of accepting."""
    on_reject: str
    """Consequence of rejecting."""
    created_at: datetime
    """Time of its creation."""
    due_at: datetime | None
    """When an answer is due, as it was assigned or else by the run's `human_timeout_seconds`; null for never."""
    overdue: bool
    """Whether `due_at` has passed."""
    reminder_at: datetime | None
    """Time of the next reminder, or of the automatic answer by `on_human_timeout`"""
    assignee: str | None
    """A principal of the workspace."""
    severity: str | None
    """Of an `escalation`"""
    error_code: str | None
    """Of the failure behind an `escalation`"""
    feedback: str | None
    """A verifier's feedback on the output."""
    gate: int | None
    """The task attempt whose output is to be approved."""
    hard_limit_usd: Decimal | None
    """Maximum cost of the run."""
    body: str | None
    """Further text of a `proposal`; a warning about an `elicitation` whose form requires a password, key or …"""
    data: Any
    """Subject of the decision. `plan_approval`: `goal`, `estimated_cost`, `task_count` and the `plan` with …"""
    approvals: InboxItemApprovals | None
    """Only of a question that several people have to approve."""
    links: InboxItemLinks
    """Paths of related requests."""
    _kinds = {
        "actions": "[InboxItemAction]", "created_at": "time", "due_at": "time", "reminder_at": "time",
        "hard_limit_usd": "decimal", "data": "free", "approvals": "InboxItemApprovals", "links": "InboxItemLinks"
    }


class InboxItemAction(Document):
    """An action that answers the item."""

    name: str
    """Name of the action."""
    method: str
    """HTTP method."""
    href: str
    """Path of the request."""
    scope: str
    """Scope that the key needs."""
    body: dict[str, Any]
    """Members that the request has anyway."""
    fields: list[str]
    """Members of the body that the person may give."""
    confirm: str | None
    """The consequence, for a confirmation; null if the action needs no confirmation."""
    _kinds = {
        "body": "{free}"
    }


class InboxItemApprovals(Document):
    """The approvals of a question, and their required number."""

    required: int
    """Different people who have to approve the same."""
    votes: list[InboxItemVote]
    """The approvals so far, oldest first; an approval with another `digest` counts for itself."""
    _kinds = {
        "votes": "[InboxItemVote]"
    }


class InboxItemVote(Document):
    """One person's approval."""

    by: str
    """The principal."""
    at: datetime
    """Time of the approval."""
    reason: str | None
    """As it was given."""
    digest: str
    """SHA-256 of the approved content, such as a new limit."""
    _kinds = {
        "at": "time"
    }


class InboxItemLinks(Document):
    """Paths of related requests."""

    accept: str
    """Path that accepts."""
    reject: str
    """Path that rejects."""
    assign: str
    """Path that assigns."""
    subject: str
    """Path of the subject of the question."""
    run: str | None
    """Null for a `tool_change` and a `dead_letter`"""
    _kinds = {

    }


class InboxDecision(Document):
    """The outcome of an inbox item."""

    id: str
    """Id of the item."""
    kind: str
    """Kind of the item."""
    decision: str
    """The decision; `voted` if other people have to approve as well."""
    approvals: InboxItemApprovals | None
    """Only of a question that several people have to approve and that still waits."""
    run_id: str | None
    """Run of the item; null for a `tool_change` and a `dead_letter`"""
    run_state: str | None
    """State of the run after the decision; null for a `tool_change` and a `dead_letter`"""
    _kinds = {
        "approvals": "InboxItemApprovals"
    }


class Trigger(Document):
    """A trigger, which starts runs of a recipe or of a mission, or signals runs, when events arrive."""

    id: str
    """Id of the resource."""
    workspace_id: str
    """Id of its workspace."""
    name: str
    """Name, unique in the workspace."""
    path: str | None
    """Path of the server at which it receives events; null for the kind `run`"""
    source: TriggerSource
    """Source of its events."""
    key: str | None
    """Expression for the identity of an event; null for the id that the source's sender gives."""
    filter: str | None
    """Expression that an event must meet; null for all events."""
    recipe_id: str | None
    """Id of the recipe; null for a mission or a signal."""
    mission: dict[str, Any] | None
    """The mission in the shape of a mission file; null for a recipe or a signal, absent in lists."""
    signal: dict[str, Any] | None
    """Signal that it sends to other runs, as it was given; null for a recipe or a mission."""
    inputs: dict[str, Any]
    """Values of inputs, by name, with expressions."""
    priority: str | None
    """Expression for the priority of the run; null for that of the mission."""
    flow: dict[str, Any] | None
    """Rules by which events wait, are merged or dropped, as they were given; null without rules."""
    example: dict[str, Any] | None
    """Event by which the expressions were checked; null without one, absent in lists."""
    enabled: bool
    """Whether it receives events and starts runs."""
    version: int
    """Number of the version, from 1."""
    created_by: str
    """Name of the principal that created it."""
    created_at: datetime
    """Time of its creation."""
    updated_at: datetime
    """Time of its last change."""
    _kinds = {
        "source": "TriggerSource", "mission": "{free}", "signal": "{free}", "inputs": "{free}", "flow": "{free}",
        "example": "{free}", "created_at": "time", "updated_at": "time"
    }


class TriggerSource(Document):
    """Source of events."""

    kind: str
    """Proof that a sender of events has to give."""
    secrets: list[str]
    """Names of the workspace's secrets, each of which is accepted."""
    header: str | None
    """Header with the secret; null but for `secret`"""
    user: str | None
    """Name of the user; null but for `basic`"""
    event: str | None
    """Name of the events; null but for `event`"""
    tolerance_seconds: int
    """Maximum difference of a signature's time to the server's time, in seconds."""
    _kinds = {

    }


class TriggerDelivery(Document):
    """An event that a trigger has received, and its outcome."""

    id: str
    """Id of the resource."""
    trigger_id: str
    """Id of the trigger."""
    key: str
    """Identity of the event."""
    state: str
    """Outcome: `started` a run, `signalled` a run that existed, `merged` into the run of other events, …"""
    run_id: str | None
    """Id of the run; null if none is started or will be."""
    repeats: int
    """Number of further deliveries of the event."""
    failures: int
    """Number of failed attempts."""
    error_code: str | None
    """Why it waits or has no run; null otherwise."""
    error_message: str | None
    """Message of the error; null without one."""
    received_at: datetime
    """Time of the first delivery."""
    due_at: datetime | None
    """When it is decided next at the latest, such as the end of its wait for a rule of flow; null before its …"""
    decided_at: datetime | None
    """Time of the outcome; null before."""
    headers: dict[str, Any] | None
    """Headers of the request without credentials; absent in lists."""
    body: Any
    """Body of the request; absent in lists."""
    _kinds = {
        "received_at": "time", "due_at": "time", "decided_at": "time", "headers": "{free}", "body": "free"
    }


class TriggerDeliveryReceipt(Document):
    """Answer to the sender of an event."""

    id: str
    """Id of the delivery."""
    trigger_id: str
    """Id of the trigger."""
    key: str
    """Identity of the event."""
    duplicate: bool
    """Whether the event was received before."""
    state: str
    """Outcome so far."""
    run_id: str | None
    """Id of the run; null if none is started or will be."""
    _kinds = {

    }


class WorkItem(Document):
    """A step under the worker's lease."""

    step_id: str
    """Id of the step."""
    run_id: str
    """Id of the run."""
    task_id: str
    """Id of the task."""
    tool: str
    """Tool to call."""
    input: Any
    """Resolved input."""
    attempt: int
    """Number of the step's attempt."""
    lease_epoch: int
    """Epoch of the lease."""
    lease_expires_at: datetime
    """End of the lease without a heartbeat."""
    deadline: datetime
    """End of the attempt by the step's `timeout_seconds`, however often the lease is renewed."""
    effect_key: str
    """Key for providers: equal over reclaims and infrastructure retries."""
    failure_context: Any
    """`error_code`, `error_class` and `message` of the last failure; in a task's further attempt …"""
    details: Any
    """Details of the last heartbeat of an earlier holder."""
    traceparent: str | None
    """The W3C Trace Context header for calls made by the step."""
    max_output_tokens: int | None
    """Tokens of output that the credits held for the step's `worst_case` pay, reasoning included; pass it to …"""
    gateway: WorkItemGateway | None
    """Access to the gateway; null if its tool has not announced `gateway`"""
    following: list[WorkItemFollowing]
    """The next steps of the task, if the claim has `chains`: to be executed after this one, in their order, …"""
    _kinds = {
        "input": "free", "lease_expires_at": "time", "deadline": "time", "failure_context": "free", "details":
        "free", "gateway": "WorkItemGateway", "following": "[WorkItemFollowing]"
    }


class WorkItemGateway(Document):
    """Access to the gateway, as long as the lease lasts. Its text form shows no token."""

    token: str
    """Of the step's lease, as bearer or as `x-api-key`: for `/gateway/openai/v1`, `/gateway/anthropic` and …"""
    _kinds = {

    }


class WorkItemFollowing(Document):
    """A step of the same task, whose lease has not begun."""

    step_id: str
    """Id of the step."""
    tool: str
    """Tool to call."""
    input: Any
    """Resolved input."""
    attempt: int
    """Number of the step's attempt."""
    lease_epoch: int
    """Epoch of the lease to come."""
    deadline: datetime
    """End of the attempt, if its lease began now."""
    effect_key: str
    """Key for providers."""
    traceparent: str | None
    """The W3C Trace Context header for calls made by the step."""
    _kinds = {
        "input": "free", "deadline": "time"
    }


class ReportAnswer(Document):
    """The answer to one item of a batch."""

    step_id: str
    """Id of the step."""
    status: str
    """Outcome of the item; `stop` only of heartbeats."""
    lease_expires_at: datetime | None
    """End of the lease after a heartbeat."""
    reason: str | None
    """Why a worker is to stop working on the step; the lease is valid with `budget_exceeded` only."""
    code: str | None
    """Code of a rejection."""
    detail: str | None
    """Message of a rejection."""
    next: WorkItem | None
    """The next step of the task, which the worker holds since the same commit."""
    result: Any
    """The stored output, for a repeated report."""
    pointer: str | None
    """JSON pointer to the place in the body that a rejection is about."""
    _kinds = {
        "lease_expires_at": "time", "next": "WorkItem", "result": "free"
    }


class ToolInfo(Document):
    """A tool that steps can use."""

    name: str
    """Name in plans."""
    description: str | None
    """Null for a tool of workers without a description."""
    source: str
    """`worker` for a tool that only workers serve."""
    effects: str
    """Effects of a call outside the run: none (`read`), none but at the first call under an effect key …"""
    default_timeout_seconds: int | None
    """Timeout of a call where its step has none, in seconds; null for a tool of workers."""
    timeout_by: str
    """What bounds a call whose step has no `timeout_seconds`: the time of the tool, or for a tool of workers …"""
    input_schema: Any
    """JSON Schema of the input; null for a tool of workers without one."""
    output_schema: Any
    """JSON Schema of the output; null for a tool of workers."""
    mcp: ToolInfoMcp | None
    """For a tool of an MCP server; null for all others. Tools that the workspace does not allow are not listed."""
    _kinds = {
        "input_schema": "free", "output_schema": "free", "mcp": "ToolInfoMcp"
    }


class ToolInfoMcp(Document):
    """For a tool of an MCP server; null for all others. Tools that the workspace does not allow are not listed."""

    server: str
    """As the workspace names it."""
    state: str
    """`changed`: the server describes it otherwise than accepted, and it is not called. `gone`: the server …"""
    trusted: bool
    """Whether annotations of the server's tools count."""
    _kinds = {

    }


class WorkerInfo(Document):
    """A known worker."""

    id: str
    """The worker's own name."""
    tools: list[str]
    """Names of the tools in its last claim."""
    slots: int
    """Maximum number of steps of its last claim."""
    version: str | None
    """Version in its last claim."""
    draining: bool
    """Whether it gets no more steps."""
    first_seen_at: datetime
    """Time of its first claim."""
    last_seen_at: datetime
    """Time of its last request."""
    _kinds = {
        "first_seen_at": "time", "last_seen_at": "time"
    }


class LedgerEntry(Document):
    """One transfer of credits; it is never changed."""

    id: int
    """Number of the row, over all workspaces."""
    transaction_type: str
    """Kind of transfer."""
    amount: Decimal
    """Credits; 0 only of a charge whose cost was below what can be charged."""
    cost: Decimal | None
    """Of a charge, exact to 12 decimal places: the charges of a run are the sum of their costs, rounded …"""
    debit_account: str
    """Where it was taken."""
    credit_account: str
    """Where it went."""
    run_id: str | None
    """Run of the transfer; null for grants and adjustments."""
    attempt_number: int | None
    """The run's attempt."""
    step_id: str | None
    """Charged step; null for other transfers."""
    idempotency_key: str
    """Unique with the type."""
    tool: str | None
    """Tool of the charged step."""
    model: str | None
    """Model that was charged."""
    agent: str | None
    """Agent of the charged step."""
    tokens: int | None
    """Tokens of the charged step."""
    usage: TokenUsage | None
    """Tokens by their price; no token is in two of input, cache_read, cache_write and output, which sum up …"""
    price_version: int | None
    """Of the price list that the amount follows from; null when it was reported."""
    purpose: str
    """Of a charge; null for other transfers."""
    estimated: bool
    """Whether tokens of the charge are an upper bound, as no answer reported them."""
    reason: str | None
    """Reason that was given; null if absent."""
    actor_type: str
    """Kind of the actor."""
    actor_id: str | None
    """Id of the actor."""
    created_at: datetime
    """Time of the transfer."""
    _kinds = {
        "amount": "decimal", "cost": "decimal", "usage": "TokenUsage", "created_at": "time"
    }


class MissionBody(TypedDict, total=False):
    """A mission; its own JSON Schema is published beside the mission files' documentation. It may have `recipe` …"""

    recipe: str
    """A recipe by its name or id."""
    start_at: datetime
    """When the run starts by itself; a time that is past starts it at once."""
    kind: str
    """Names the template of plans that a goal without a planner is planned by."""
    mcp: bool
    """Of a recipe: whether MCP clients see it as a tool, under its name."""
    name: str
    """Name of the run."""
    goal: str
    """Alias `task`"""
    plan: dict[str, Any]
    """Tasks of the run."""
    config: dict[str, Any]
    """Configuration of the run."""
    inputs: dict[str, Any]
    """Declarations of inputs, by name."""
    input: dict[str, Any]
    """Values of inputs, by name."""
    output: Any
    """A value with expressions."""
    priority: int
    """Lower first."""
    agent_slug: str
    """Agent of tasks without `suggested_agent`"""
    trigger: str
    """Source of the run, such as `manual` or `cron`"""
    tags: list[str]
    """Tags of the run."""
    external_id: str
    """Unique in the workspace."""
    external_id_policy: str
    """When another run has the external id: reject this one, return 200 with that run unchanged, or reuse …"""
    start: bool
    """Whether to start the run."""


class RunActionForkBody(TypedDict, total=False):
    """Forks a run."""

    task: str
    """Id of the task in the plan; `TASK#7` begins with round 7 of a task with `repeat`"""
    turn: int
    """The first turn of the task that is taken again, by its number in the transcript; the task must have …"""
    overrides: RunActionOverridesBody
    """Differences of the task's agent from the run."""
    inputs: dict[str, Any]
    """Values of inputs, by name."""
    calls: str
    """`live`: calls of the task are made. `recorded`: they have the results that they had in the run; the …"""
    task_only: bool
    """Whether the fork has the task and the tasks it depends on only, which must have completed. It has no …"""
    name: str
    """Name of the new run; the name of the source if absent."""


class RunActionOverridesBody(TypedDict, total=False):
    """Differences of a task's agent from the run."""

    model: str
    """Model of its turns."""
    instructions: str
    """Instructions for the model."""
    tools: list[str]
    """Names of its tools."""


class ClaimBody(TypedDict, total=False):
    """Claims steps under a lease."""

    worker_id: str
    """The worker."""
    tools: list[str]
    """Tools that the worker serves."""
    max: int
    """Maximum number of steps."""
    wait_ms: int
    """Maximum wait for the first step."""
    lease_ms: int
    """Length of the lease; the server's setting of 30 s if absent."""
    version: str
    """Version of the worker."""
    tool_specs: list[AnnouncedToolBody]
    """Descriptions of the worker's tools in addition to their names; once is enough, an empty list changes …"""
    again: bool
    """Whether the worker claims again as soon as it has the answer. Steps that become ready meanwhile are …"""
    chains: list[str]
    """Tools without effects, of `tools`. A step of such a tool comes with `following` steps of its task; the …"""
    items: list[ClaimItemBody]
    """Claims only these items of the queue, and does not wait. Items that are not ready, and items of other …"""


class AnnouncedToolBody(TypedDict, total=False):
    """A worker's description of one of its tools."""

    name: str
    """One of the worker's tools."""
    description: str
    """One sentence for people and models."""
    input_schema: dict[str, Any]
    """JSON Schema of the input."""
    effects: str
    """Effects of a call outside the run, as of `GET /tools`"""
    gateway: Any
    """Rights of a program that serves the tool at the gateway: `true` for all that the rules allow, or an …"""


class ClaimItemBody(TypedDict, total=False):
    """An item of the work queue, as messages of a broker name it."""

    task_id: str
    """Id of the task."""
    lane: int
    """Of the task's work: one for steps in order, one each for parallel steps."""


class HeartbeatBody(TypedDict, total=False):
    """Extends a lease, and reports use, progress, details and log lines."""

    step_id: str
    """The claimed step."""
    lease_epoch: int
    """Epoch of the lease."""
    tokens: int
    """Tokens used since the claim; output, if `usage` does not divide them."""
    usage: ReportedUsageBody
    """Tokens by their price."""
    cost: Decimal
    """Credits; if absent, the tokens by the model's price, else the tool's price."""
    model: str
    """Model that used the tokens."""
    progress: ProgressBody
    """Progress for people."""
    logs: list[str]
    """Log lines; the first 1000 are stored."""
    details: Any
    """Any JSON, kept for the next attempt."""


class ReportedUsageBody(TypedDict, total=False):
    """Tokens by their price. No token is in two of input, cache_read, cache_write and output."""

    input: int
    """Input that the provider's cache neither had nor kept."""
    cache_read: int
    """Input from the provider's cache."""
    cache_write: int
    """Input that the provider's cache kept."""
    output: int
    """Output of the model, reasoning included."""
    reasoning: int
    """Part of the output that is reasoning."""


class ProgressBody(TypedDict, total=False):
    """Progress of a step for people."""

    fraction: Decimal
    """Part that is done."""
    message: str
    """Text for people."""


class CompletionBody(TypedDict, total=False):
    """The result of a step."""

    step_id: str
    """The claimed step."""
    lease_epoch: int
    """Epoch of the lease."""
    tokens: int
    """Tokens used since the claim; output, if `usage` does not divide them."""
    usage: ReportedUsageBody
    """Tokens by their price."""
    cost: Decimal
    """Credits; if absent, the tokens by the model's price, else the tool's price."""
    model: str
    """Model that used the tokens."""
    progress: ProgressBody
    """Progress for people."""
    logs: list[str]
    """Log lines; the first 1000 are stored."""
    output: Any
    """The result, any JSON; null if absent."""
    artifacts: list[CompletionInlineArtifactBody]
    """Small files."""
    proposals: list[NewProposalBody]
    """Proposals to people; no work waits for the answers."""
    uploads: list[CompletionUploadBody]
    """Artifacts that were uploaded under the same lease."""


class CompletionInlineArtifactBody(TypedDict, total=False):
    """A small file."""

    name: str
    """Name of the file."""
    content_type: str
    """Media type."""
    content_base64: str
    """At most 1 MiB of bytes in Base64; an item with another text is `rejected`, and the others are done."""


class NewProposalBody(TypedDict, total=False):
    """A proposal to people."""

    title: str
    """Title for people."""
    body: str
    """Text for people."""
    data: Any
    """Any JSON, at most 65,536 characters."""
    expires_in_seconds: int
    """Time after which the proposal expires; never if absent."""


class CompletionUploadBody(TypedDict, total=False):
    """An artifact that was uploaded."""

    upload_id: str
    """As the upload returned it."""


class FailureBody(TypedDict, total=False):
    """The failure of a step."""

    step_id: str
    """The claimed step."""
    lease_epoch: int
    """Epoch of the lease."""
    tokens: int
    """Tokens used since the claim; output, if `usage` does not divide them."""
    usage: ReportedUsageBody
    """Tokens by their price."""
    cost: Decimal
    """Credits; if absent, the tokens by the model's price, else the tool's price."""
    model: str
    """Model that used the tokens."""
    progress: ProgressBody
    """Progress for people."""
    logs: list[str]
    """Log lines; the first 1000 are stored."""
    error_code: str
    """Stable code of the error."""
    error_class: str
    """Class that decides about retries; by the code if absent."""
    message: str
    """Text for people."""
    retry_after_ms: int
    """Earliest time of the next attempt."""


class ReleaseBody(TypedDict, total=False):
    """Returns a lease without a result."""

    step_id: str
    """The claimed step."""
    lease_epoch: int
    """Epoch of the lease."""
    deferral: ReleaseDeferralBody
    """Why the step cannot be executed yet; without it the step may be claimed at once."""


class ReleaseDeferralBody(TypedDict, total=False):
    """Why a step cannot be executed yet."""

    retry_after_ms: int
    """Minimum time before the next claim."""
    busy: str
    """The busy system, such as `model:NAME`"""
    error_code: str
    """Code of the failure when it is busy for too long; UPSTREAM_UNAVAILABLE if absent."""
    message: str
    """Text for people."""
