// Made by scripts/generate.mjs from the server's OpenAPI document; do not edit.

/** An exact decimal number as text, such as "0.000003". */
export type Decimal = string;
/** A value of an enumeration that this version does not know. */
export type Other = string & {};

export interface components {
    schemas: {
        /** @description An agent of the workspace's roster */
        Agent: {
            /** @description Number of the agent */
            id: number;
            /** @description Name in plans */
            slug: string;
            /** @description Name for people */
            name: string;
            /** @description Description for agent selection */
            description: string | null;
            /** @description Model of its turns; null for that of the run */
            model: string | null;
            /** @description Instructions for the model */
            instructions: string | null;
            /** @description Names or patterns of its tools */
            tools: string[];
            /** @description Kinds of work for agent selection */
            capabilities: string[];
            /** @description Limits of each task of the agent */
            limits: components["schemas"]["AgentLimits"];
            /**
             * @description Where its turns are executed; null for the default
             * @enum {unknown}
             */
            runs_on: "server" | "workers" | null | Other;
            /** @description Name of the principal that created it */
            created_by: string | null;
            /**
             * Format: date-time
             * @description Time of its creation
             */
            created_at: Date;
            /**
             * Format: date-time
             * @description Time of its last change
             */
            updated_at: Date;
            /** @description Tools of MCP servers in `tools` that no call reaches now, as sentences with the command that helps */
            warnings: string[];
        };
        /** @description Limits of each task of the agent */
        AgentLimits: {
            /** @description Maximum number of turns; null for the default */
            max_turns: number | null;
            /** @description By tool, a rule or several: which calls wait for a person. `always`; `never`; `effects`: if the tool is `destructive`, as without a rule; `tainted`: if the agent has seen data from outside and the tool changes something; `when`: if the jq expression over the call's input gives a value other than false and null, or fails. Each of several rules is applied. `*` is for tools without rules of their own, in addition to their effects */
            approvals: components["schemas"]["CallApprovals"];
        };
        /** @description A worker's description of one of its tools */
        AnnouncedTool: {
            /** @description One of the worker's tools */
            name: components["schemas"]["Name"];
            /** @description One sentence for people and models */
            description?: string;
            /** @description JSON Schema of the input */
            input_schema?: Record<string, never>;
            /**
             * @description Effects of a call outside the run, as of `GET /tools`
             * @enum {unknown}
             */
            effects?: "read" | "idempotent" | "once" | "destructive" | Other;
            /** @description Rights of a program that serves the tool at the gateway: `true` for all that the rules allow, or an object with lists `models` and `tools` of names. Without it a step of the tool gets no token */
            gateway?: unknown;
        };
        /** @description A file that a step left behind */
        Artifact: {
            /**
             * Format: uuid
             * @description Id of the resource
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of the run
             */
            run_id: string;
            /**
             * Format: uuid
             * @description Task that stored it
             */
            task_id: string;
            /**
             * Format: uuid
             * @description Step that stored it
             */
            step_id: string;
            /** @description The run's attempt */
            attempt: number;
            /** @description Unique in the attempt */
            name: string;
            /** @description Media type */
            content_type: string;
            /** @description Size in bytes */
            size_bytes: number;
            /** @description SHA-256 of the stored bytes, in hexadecimal */
            sha256: string;
            /**
             * Format: date-time
             * @description Time of its creation
             */
            created_at: Date;
            /**
             * Format: date-time
             * @description End of its retention; null until its run has ended
             */
            expires_at: Date | null;
            /**
             * Format: date-time
             * @description Time of its deletion; null before it
             */
            deleted_at: Date | null;
        };
        /**
         * Format: id
         * @description A UUID, also with the prefix `art_`
         */
        ArtifactId: string;
        CallApproval: ("never" | "effects" | "tainted" | "always") | {
            /** @description A jq expression over the call's input */
            when: string;
        };
        /** @description By tool, a rule or several: which calls wait for a person. `always`; `never`; `effects`: if the tool is `destructive`, as without a rule; `tainted`: if the agent has seen data from outside and the tool changes something; `when`: if the jq expression over the call's input gives a value other than false and null, or fails. Of several rules each asks. `*` is for tools without rules of their own, beside their effects */
        CallApprovals: {
            [key: string]: components["schemas"]["CallApproval"] | components["schemas"]["CallApproval"][];
        };
        /** @description The result of a step */
        Completion: {
            /** @description The claimed step */
            step_id: components["schemas"]["StepId"];
            /** @description Epoch of the lease */
            lease_epoch: number;
            /**
             * @description Tokens used since the claim; output, if `usage` does not divide them
             * @default 0
             */
            tokens?: number;
            /** @description Tokens by their price */
            usage?: components["schemas"]["ReportedUsage"];
            /** @description Credits; if absent, the tokens by the model's price, else the tool's price */
            cost?: Decimal;
            /** @description Model that used the tokens */
            model?: string;
            /** @description Progress for people */
            progress?: components["schemas"]["Progress"];
            /**
             * @description Log lines; the first 1000 are stored
             * @default []
             */
            logs?: string[];
            /** @description The result, any JSON; null if absent */
            output?: unknown;
            /**
             * @description Small files
             * @default []
             */
            artifacts?: components["schemas"]["CompletionInlineArtifact"][];
            /**
             * @description Proposals to people; no work waits for the answers
             * @default []
             */
            proposals?: components["schemas"]["NewProposal"][];
            /**
             * @description Artifacts that were uploaded under the same lease
             * @default []
             */
            uploads?: components["schemas"]["CompletionUpload"][];
        };
        /** @description A small file */
        CompletionInlineArtifact: {
            /** @description Name of the file */
            name: components["schemas"]["Name"];
            /** @description Media type */
            content_type: components["schemas"]["Name"];
            /** @description At most 1 MiB of bytes in Base64; an item with another text is `rejected`, and the others are done */
            content_base64: string;
        };
        /** @description An artifact that was uploaded */
        CompletionUpload: {
            /** @description As the upload returned it */
            upload_id: components["schemas"]["ArtifactId"];
        };
        /** @description An event of a run */
        Event: {
            /** @description Number in the order of the feed */
            id: number;
            /** @description Number within the run, from 1 without gaps */
            seq: number;
            /**
             * Format: uuid
             * @description Id of the run
             */
            run_id: string;
            /** @description The run's attempt */
            attempt: number;
            /** @description The agent at work in the run that it is about */
            agent_id: string | null;
            /** @description Task of the event; null without one */
            task_id: string | null;
            /** @description Step of the event; null without one */
            step_id: string | null;
            /** @description Type of the event */
            event_type: string;
            /** @description Members by the type */
            payload: Record<string, never>;
            /** @description Kind of the actor; null if unknown */
            actor_type: string | null;
            /** @description Id of the actor */
            actor_id: string | null;
            /**
             * Format: date-time
             * @description Time of its creation
             */
            created_at: Date;
        };
        /** @description Why something waits */
        Explanation: {
            /**
             * Format: uuid
             * @description Id of the run
             */
            run_id: string;
            /**
             * Format: uuid
             * @description Of a task or a step only
             */
            task_id?: string;
            /**
             * Format: uuid
             * @description Of a step only
             */
            step_id?: string;
            /** @description State of the run or task */
            state: string;
            /** @description Reasons of the wait */
            reasons: components["schemas"]["ExplanationReason"][];
            /** @description A run has the reasons of its first 100 open tasks that could move. The number of such tasks beyond them; `GET /tasks/{id`/explain} explains one. 0 for a task or a step */
            tasks_left_out: number;
        };
        /** @description A reason of the wait */
        ExplanationReason: {
            /** @description Stable: UPSTREAM_OPEN, QUEUED, MISSING_WORKER, RUNNING, STEP_BACKOFF, TASK_REVIEW and so on */
            code: string;
            /** @description Explanation for people */
            text: string;
            /**
             * Format: uuid
             * @description Task that waits; null for the run
             */
            task_id: string | null;
            /**
             * Format: uuid
             * @description Step that waits; null for the task or run
             */
            step_id: string | null;
            /**
             * Format: date-time
             * @description When it is over by itself
             */
            until: Date | null;
            /** @description Of a run that its limit or the budget of a task has stopped: the least new limit in credits with which it continues, including the cost of the next step. Without a price for that step, it is a millionth more than the use. Null for other reasons, and where the workspace has no credits left */
            needed_usd: Decimal | null;
            /** @description Ids or names of tasks, a worker, a ticket or a tool that it waits for */
            on: string[];
        };
        /** @description The failure of a step */
        Failure: {
            /** @description The claimed step */
            step_id: components["schemas"]["StepId"];
            /** @description Epoch of the lease */
            lease_epoch: number;
            /**
             * @description Tokens used since the claim; output, if `usage` does not divide them
             * @default 0
             */
            tokens?: number;
            /** @description Tokens by their price */
            usage?: components["schemas"]["ReportedUsage"];
            /** @description Credits; if absent, the tokens by the model's price, else the tool's price */
            cost?: Decimal;
            /** @description Model that used the tokens */
            model?: string;
            /** @description Progress for people */
            progress?: components["schemas"]["Progress"];
            /**
             * @description Log lines; the first 1000 are stored
             * @default []
             */
            logs?: string[];
            /** @description Stable code of the error */
            error_code: string;
            /**
             * @description Class that decides about retries; by the code if absent
             * @enum {unknown}
             */
            error_class?: "infrastructure" | "quality" | "permanent" | "human_rejection" | "budget" | "dependency" | "cancelled" | Other;
            /**
             * @description Text for people
             * @default
             */
            message?: string;
            /** @description Earliest time of the next attempt */
            retry_after_ms?: number;
        };
        /** @description Extends a lease, and reports use, progress, details and log lines */
        Heartbeat: {
            /** @description The claimed step */
            step_id: components["schemas"]["StepId"];
            /** @description Epoch of the lease */
            lease_epoch: number;
            /**
             * @description Tokens used since the claim; output, if `usage` does not divide them
             * @default 0
             */
            tokens?: number;
            /** @description Tokens by their price */
            usage?: components["schemas"]["ReportedUsage"];
            /** @description Credits; if absent, the tokens by the model's price, else the tool's price */
            cost?: Decimal;
            /** @description Model that used the tokens */
            model?: string;
            /** @description Progress for people */
            progress?: components["schemas"]["Progress"];
            /**
             * @description Log lines; the first 1000 are stored
             * @default []
             */
            logs?: string[];
            /** @description Any JSON, kept for the next attempt */
            details?: unknown;
        };
        /** @description The outcome of an inbox item */
        InboxDecision: {
            /** @description Id of the item */
            id: string;
            /** @description Kind of the item */
            kind: components["schemas"]["InboxKind"];
            /**
             * @description The decision; `voted` if other people have to approve as well
             * @enum {unknown}
             */
            decision: "accepted" | "rejected" | "voted" | Other;
            /** @description Only of a question that several people have to approve and that still waits */
            approvals?: components["schemas"]["InboxItemApprovals"];
            /**
             * Format: uuid
             * @description Run of the item; null for a `tool_change` and a `dead_letter`
             */
            run_id: string | null;
            /** @description State of the run after the decision; null for a `tool_change` and a `dead_letter` */
            run_state: components["schemas"]["RunState"] | null;
        };
        /** @description A question that waits for a person */
        InboxItem: {
            /** @description Only of a single item; the answers to it, each as a request to send */
            actions?: components["schemas"]["InboxItemAction"][];
            /** @description Id of this question; not reused once it is answered */
            id: string;
            /** @description `plan_approval` and `result_acceptance` are about a run as a whole, `approval_step` about a step of the kind approval, `call_approval` about a call of an agent that waits for a person, `question` about an agent's question, `task_review` about a task's output, `escalation` about a ticket, `budget` about a run that its hard limit or its workspace's credits have stopped, `proposal` about a step's proposal, `elicitation` about the questions of an MCP server's tool, `tool_change` about such a tool whose description has changed, `dead_letter` about events of a trigger that were given up */
            kind: components["schemas"]["InboxKind"];
            /**
             * Format: uuid
             * @description Null for a `tool_change` and a `dead_letter`
             */
            run_id: string | null;
            /** @description Name of the run */
            run_name: string | null;
            /** @description State of the run */
            run_state: components["schemas"]["RunState"] | null;
            /** @description Task of the question; null for the run */
            task_id: string | null;
            /** @description Id of the task in the plan */
            task_key: string | null;
            /** @description Title of the task */
            task_title: string | null;
            /** @description Step of the question; null for a task or the run */
            step_id: string | null;
            /** @description Name of the step in the plan */
            step_name: string | null;
            /** @description Question to the person */
            question: string;
            /** @description Consequence of accepting */
            on_accept: string;
            /** @description Consequence of rejecting */
            on_reject: string;
            /**
             * Format: date-time
             * @description Time of its creation
             */
            created_at: Date;
            /**
             * Format: date-time
             * @description When an answer is due, as it was assigned or else by the run's `human_timeout_seconds`; null for never
             */
            due_at: Date | null;
            /** @description Whether `due_at` has passed */
            overdue: boolean;
            /**
             * Format: date-time
             * @description Time of the next reminder, or of the automatic answer by `on_human_timeout`
             */
            reminder_at: Date | null;
            /** @description A principal of the workspace */
            assignee: string | null;
            /** @description Of an `escalation` */
            severity: string | null;
            /** @description Of the failure behind an `escalation` */
            error_code: string | null;
            /** @description A verifier's feedback on the output */
            feedback: string | null;
            /** @description The task attempt whose output is to be approved */
            gate: number | null;
            /** @description Maximum cost of the run */
            hard_limit_usd: Decimal | null;
            /** @description Further text of a `proposal`; a warning about an `elicitation` whose form requires a password, key or token */
            body: string | null;
            /** @description Subject of the decision. `plan_approval`: `goal`, `estimated_cost`, `task_count` and the `plan` with its first 50 tasks, each with its `tools`; above 64 KiB without steps and checks; `earlier`, how up to five attempts of the run before this one ended (`attempt`, `error_code`, `message`). `result_acceptance`: `earlier`, the run's `output`; if it has none, or one above 64 KiB, null and its `summary`, and of a run without an output the `results` of its last tasks; `verified`, its first 20 tasks with criteria, checks or several attempts, each with its last ten `checks`: `attempt`, `check`, `verdict`, `score`, `feedback`, `marks` of a judge, and the beginning of an `output` that did not pass; its `artifacts`, counts of tasks, tokens and cost. `task_review`: the `output`, cut to 2,000 characters, and where it was cut `output_ref`, the path of the whole output; `success_criteria`, `score`, `attempt` and `checks`. `approval_step`: its input, resolved. `call_approval`: `tool`, `input` and the input's SHA-256 (`input_sha256`), and the reason for the question: `reason` is `always`, `destructive`, `tainted`, `condition` or `condition_failed`, `detail` the source of the data, the condition, or its error. `question`: `question` and `schema` of the answer. `escalation` of a failure: `task`, `step`, `tool`, `attempt`, `input` of that attempt (null with `input_missing`, a sentence, if no resolved input was recorded), `reason` and the same in words (`why`), `error_code`, `message`, tokens and cost; of a new plan: `reason`, the `failed` tasks, the proposed `plan` with `task_count` and `estimated_cost`, and `changes` with the ids of tasks that are `added`, `replaced`, `dropped` and `kept`. `budget`: `charged`, `hard_limit_usd`, `task_budgets` as in the run, counts of tasks and the titles of the `next` tasks. `proposal`: its data. `elicitation`: the `server`, the `tool` and the `questions` by their names, each with `mode`, `message` and for a form its `schema`, for a page its `url`. `tool_change`: the `server`, the `tool`, `differences` with the JSON `pointer` and both values of what differs, and the descriptions as they were `accepted` and are `seen` now. `dead_letter`: the `trigger`, its `trigger_id`, the `count` of the events, 1,000 at most, `error_code` and `message` of the last one */
            data: unknown;
            /** @description Only of a question that several people have to approve */
            approvals?: components["schemas"]["InboxItemApprovals"];
            /** @description Paths of related requests */
            links: components["schemas"]["InboxItemLinks"];
        };
        /** @description An action that answers the item */
        InboxItemAction: {
            /**
             * @description Name of the action
             * @enum {unknown}
             */
            name: "accept" | "reject" | "skip" | "done" | "try_all_again" | "skip_all" | "fail" | "cancel" | "downgrade" | "finish_current" | "withdraw" | "assign" | Other;
            /**
             * @description HTTP method
             * @enum {unknown}
             */
            method: "POST" | Other;
            /** @description Path of the request */
            href: string;
            /** @description Scope that the key needs */
            scope: components["schemas"]["Scope"];
            /** @description Members that the request has anyway */
            body: {
                [key: string]: string | boolean;
            };
            /** @description Members of the body that the person may give */
            fields: string[];
            /** @description The consequence, for a confirmation; null if the action needs no confirmation */
            confirm: string | null;
        };
        /** @description The approvals of a question, and their required number */
        InboxItemApprovals: {
            /** @description Different people who have to approve the same */
            required: number;
            /** @description The approvals so far, oldest first; an approval with another `digest` counts for itself */
            votes: components["schemas"]["InboxItemVote"][];
        };
        /** @description Paths of related requests */
        InboxItemLinks: {
            /** @description Path that accepts */
            accept: string;
            /** @description Path that rejects */
            reject: string;
            /** @description Path that assigns */
            assign: string;
            /** @description Path of the subject of the question */
            subject: string;
            /** @description Null for a `tool_change` and a `dead_letter` */
            run: string | null;
        };
        /** @description One person's approval */
        InboxItemVote: {
            /** @description The principal */
            by: string;
            /**
             * Format: date-time
             * @description Time of the approval
             */
            at: Date;
            /** @description As it was given */
            reason: string | null;
            /** @description SHA-256 of the approved content, such as a new limit */
            digest: string;
        };
        /**
         * @description `plan_approval` and `result_acceptance` are about a run as a whole, `approval_step` about a step of the kind approval, `call_approval` about a call of an agent that waits for a person, `question` about what an agent asks, `task_review` about a task's output, `escalation` about a ticket, `budget` about a run that its hard limit or its workspace's credits have stopped, `proposal` about what a step has proposed, `elicitation` about what a tool of an MCP server asks, `tool_change` about such a tool whose description has changed, `dead_letter` about events of a trigger that were given up
         * @enum {unknown}
         */
        InboxKind: "plan_approval" | "result_acceptance" | "approval_step" | "call_approval" | "question" | "task_review" | "escalation" | "budget" | "proposal" | "elicitation" | "tool_change" | "dead_letter" | Other;
        /** @description A line that a step's executor wrote */
        LogLine: {
            /** @description Rises within the step; numbers may be left out */
            seq: number;
            /** @description The step's attempt */
            attempt: number;
            /** @description Text of the line */
            message: string;
            /**
             * Format: date-time
             * @description Time of the line
             */
            created_at: Date;
        };
        /** @description A mission; its own JSON Schema is published beside the mission files' documentation. It may have `recipe` instead of `plan`, `inputs` and `output`. */
        Mission: {
            /** @description A recipe by its name or id */
            recipe?: string;
            /**
             * Format: date-time
             * @description When the run starts by itself; a time that is past starts it at once
             */
            start_at?: Date;
            /** @description Names the template of plans that a goal without a planner is planned by */
            kind?: string;
            /** @description Of a recipe: whether MCP clients see it as a tool, under its name */
            mcp?: boolean;
            /** @description Name of the run */
            name?: string;
            /** @description Alias `task` */
            goal?: string;
            /** @description Tasks of the run */
            plan?: Record<string, never>;
            /** @description Configuration of the run */
            config?: Record<string, never>;
            /** @description Declarations of inputs, by name */
            inputs?: Record<string, never>;
            /** @description Values of inputs, by name */
            input?: Record<string, never>;
            /** @description A value with expressions */
            output?: unknown;
            /**
             * @description Lower first
             * @default 100
             */
            priority?: number;
            /** @description Agent of tasks without `suggested_agent` */
            agent_slug?: string;
            /** @description Source of the run, such as `manual` or `cron` */
            trigger?: string;
            /** @description Tags of the run */
            tags?: string[];
            /** @description Unique in the workspace */
            external_id?: string;
            /**
             * @description When another run has the external id: reject this one, return 200 with that run unchanged, or reuse the id of a run that has ended
             * @default reject
             * @enum {unknown}
             */
            external_id_policy?: "reject" | "existing" | "after_end" | Other;
            /**
             * @description Whether to start the run
             * @default false
             */
            start?: boolean;
        };
        /** Format: name */
        Name: string;
        /** @description A proposal to people */
        NewProposal: {
            /** @description Title for people */
            title: components["schemas"]["Name"];
            /** @description Text for people */
            body?: string;
            /** @description Any JSON, at most 65,536 characters */
            data?: unknown;
            /** @description Time after which the proposal expires; never if absent */
            expires_in_seconds?: number;
        };
        /** @description Progress of a step for people */
        Progress: {
            /** @description Part that is done */
            fraction?: Decimal;
            /**
             * @description Text for people
             * @default
             */
            message?: string;
        };
        /** @description Returns a lease without a result */
        Release: {
            /** @description The claimed step */
            step_id: components["schemas"]["StepId"];
            /** @description Epoch of the lease */
            lease_epoch: number;
            /** @description Why the step cannot be executed yet; without it the step may be claimed at once */
            deferral?: components["schemas"]["ReleaseDeferral"];
        };
        /** @description Why a step cannot be executed yet */
        ReleaseDeferral: {
            /** @description Minimum time before the next claim */
            retry_after_ms: number;
            /** @description The busy system, such as `model:NAME` */
            busy?: string;
            /** @description Code of the failure when it is busy for too long; UPSTREAM_UNAVAILABLE if absent */
            error_code?: string;
            /**
             * @description Text for people
             * @default
             */
            message?: string;
        };
        /** @description The answer to one item of a batch */
        ReportAnswer: {
            /**
             * Format: uuid
             * @description Id of the step
             */
            step_id: string;
            /**
             * @description Outcome of the item; `stop` only of heartbeats
             * @enum {unknown}
             */
            status: "ok" | "duplicate" | "conflict" | "stale_lease" | "stop" | "not_found" | "rejected" | Other;
            /**
             * Format: date-time
             * @description End of the lease after a heartbeat
             */
            lease_expires_at?: Date;
            /**
             * @description Why a worker is to stop working on the step; the lease is valid with `budget_exceeded` only
             * @enum {unknown}
             */
            reason?: "budget_exceeded" | "cancelled" | "timed_out" | "lost" | Other;
            /** @description Code of a rejection */
            code?: string;
            /** @description Message of a rejection */
            detail?: string;
            /** @description The next step of the task, which the worker holds since the same commit */
            next?: components["schemas"]["WorkItem"];
            /** @description The stored output, for a repeated report */
            result?: unknown;
            /** @description JSON pointer to the place in the body that a rejection is about */
            pointer?: string;
        };
        /** @description Tokens by their price. No token is in two of input, cache_read, cache_write and output. */
        ReportedUsage: {
            /**
             * @description Input that the provider's cache neither had nor kept
             * @default 0
             */
            input?: number;
            /**
             * @description Input from the provider's cache
             * @default 0
             */
            cache_read?: number;
            /**
             * @description Input that the provider's cache kept
             * @default 0
             */
            cache_write?: number;
            /**
             * @description Output of the model, reasoning included
             * @default 0
             */
            output?: number;
            /**
             * @description Part of the output that is reasoning
             * @default 0
             */
            reasoning?: number;
        };
        /** @description The step whose result was taken over. Its run may be deleted or archived by now. */
        ResultSource: {
            /**
             * Format: uuid
             * @description Run that computed the result
             */
            run_id: string;
            /**
             * Format: uuid
             * @description Its task
             */
            task_id: string;
            /**
             * Format: uuid
             * @description Its step
             */
            step_id: string;
        };
        /** @description A run as the server shows it. JSON components are never Java null: an absent member is a JSON null. Money is in credits (`totalCost`) or credits; durations in milliseconds. */
        Run: {
            /** @description With `light`: the size of the inputs as JSON */
            inputs_bytes?: number | null;
            /** @description With `light`: their first 1,024 characters */
            inputs_start?: string | null;
            /** @description With `light`: size of the output as JSON, in bytes */
            output_bytes?: number | null;
            /** @description With `light`: first 1,024 characters of the output */
            output_start?: string | null;
            /** @description In lists with the parameter `now` only: the first reason of the run's explanation, by its stable code. Runs after the first 100 open ones of the page, and runs with more tasks than are left of 5,000 for the page, have a reason by state and numbers in its place, such as "4000 steps are at work"; `GET /runs/{id`/explain} has all reasons of these. Null for a run that has ended, and where only tasks could tell. */
            now?: components["schemas"]["RunNow"] | null;
            /**
             * Format: uuid
             * @description Id of the resource
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of its workspace
             */
            workspace_id: string;
            /** @description Name of the run */
            name: string;
            /** @description Text for people */
            description: string | null;
            /** @description Goal from which a planner makes the plan; null without one */
            goal: string | null;
            /** @description The agent of the roster that it is about */
            agent_slug: string | null;
            /** @description The caller's own name for it, unique in the workspace */
            external_id: string | null;
            /** @description The principal that created it */
            created_by: string | null;
            /** @description State of the run */
            state: components["schemas"]["RunState"];
            /** @description The same as state */
            status: components["schemas"]["RunState"];
            /** @description Kind of the state */
            state_type: components["schemas"]["StateType"];
            /** @description Priority; lower numbers come first */
            priority: number;
            /** @description Source of the run, such as `manual` or `cron` */
            trigger: string | null;
            /** @description The current plan; not in lists */
            plan?: Record<string, never> | null;
            /** @description As in the mission */
            config: Record<string, never> | null;
            /** @description Values of its inputs, by name; not in lists */
            inputs?: Record<string, never> | null;
            /** @description Tags of the run */
            tags: string[];
            /** @description Number of the attempt, from 1 */
            attempt_number: number;
            /** @description Maximum number of attempts */
            max_attempts: number;
            /** @description Rises with every re-planning; 0 while a goal has no plan yet */
            plan_version: number;
            /** @description Re-plannings of the attempt */
            replans: number;
            /**
             * @description Reason other than its tasks for which a running run waits
             * @enum {unknown}
             */
            gate: "none" | "replanning" | "replan_approved" | "acceptance" | "finishing" | Other;
            /** @description Open escalation tickets */
            open_escalations: number;
            /**
             * Format: uuid
             * @description The ticket that holds an escalated run up; of several the latest
             */
            escalation_ticket_id: string | null;
            /** @description Decisions that only people can take and that are due now, tickets included */
            waits_for_humans: number;
            /**
             * Format: date-time
             * @description When it was to start by itself
             */
            start_at: Date | null;
            /**
             * Format: uuid
             * @description The recipe of the run
             */
            recipe_id: string | null;
            /** @description Version of its recipe; null without a recipe */
            recipe_version: number | null;
            /**
             * Format: uuid
             * @description The schedule that made it
             */
            schedule_id: string | null;
            /**
             * Format: date-time
             * @description The time for which the schedule made it
             */
            scheduled_for: Date | null;
            /** @description The run that it was forked from */
            forked_from: string | null;
            /** @description The task from which on it differs, by its id in the plan */
            fork_task: string | null;
            /** @description The run whose step started this run */
            parent_run_id: string | null;
            /** @description The step */
            parent_step_id: string | null;
            /** @description Number of child runs; list them by parent_run_id */
            child_count: number;
            /** @description The undo of an ended run; null if absent */
            undo: components["schemas"]["RunUndo"] | null;
            /**
             * Format: uuid
             * @description The run that this one undoes; null for any other run
             */
            undoes: string | null;
            /** @description Number of tasks of the plan; planning tasks and hooks do not count */
            task_count: number;
            /** @description Number of these that have completed */
            tasks_completed: number;
            /** @description Number of these that have failed */
            tasks_failed: number;
            /** @description Number of skipped tasks */
            tasks_skipped: number;
            /** @description Tasks that failed, and steps that failed in tasks that continued without them. A completed or skipped run with failures completed with failures. While a run is open, the failed tasks so far */
            failures: number;
            /** @description Number of steps */
            steps_total: number;
            /** @description Number of completed steps */
            steps_completed: number;
            /** @description Number of agents of the plan */
            agent_count: number;
            /** @description Names of agents of the latest attempt, the first ten in order */
            agent_names: string[];
            /** @description Reserved by all of its attempts */
            credits_reserved: Decimal;
            /** @description Of all of its attempts, the open one included */
            credits_charged: Decimal;
            /** @description Refunds of ended attempts */
            credits_refunded: Decimal;
            /** @description Cost of its steps that could not be charged */
            credits_uncollected: Decimal;
            /** @description Current limit of the cost of all attempts together: set by budget, or the config's; null for no limit */
            hard_limit_usd: Decimal | null;
            /** @description Current amount at which one warning is sent */
            soft_limit_usd: Decimal | null;
            /** @description Of the tasks that have one, over all attempts */
            task_budgets: components["schemas"]["TaskBudget"][];
            /** @description Tokens of all attempts */
            total_tokens: number;
            /** @description Tokens by their price; no token is in two of input, cache_read, cache_write and output, which sum up to all. Null for no tokens */
            usage: components["schemas"]["TokenUsage"] | null;
            /** @description Credits of all attempts */
            total_cost: Decimal;
            /** @description Output; null without one */
            output?: unknown;
            /** @description The result: the first 2,000 characters of `output`. Without an output template, of the output of the task on which no other depends, or of each such task's title and output. Null before the work is done */
            result_summary: string | null;
            /** @description The agent of the roster that `agent_slug` names */
            coordinator_agent_id: number | null;
            /** @description Code of the error; null without one */
            error_code: string | null;
            /** @description Message of the error; null without one */
            error_message: string | null;
            /**
             * Format: date-time
             * @description Time of its creation
             */
            created_at: Date;
            /**
             * Format: date-time
             * @description Time of its last change
             */
            updated_at: Date;
            /**
             * Format: date-time
             * @description Time of its start; null before it
             */
            started_at: Date | null;
            /**
             * Format: date-time
             * @description Time of its end; null while it is open
             */
            completed_at: Date | null;
            /**
             * Format: date-time
             * @description `completed_at` of a cancelled run; null for others
             */
            cancelled_at: Date | null;
            /** @description From its first start to its end, without `ended_ms`; null while it is open */
            duration_ms: number | null;
            /** @description For how long it had ended before its retries */
            ended_ms: number;
            /** @description How long it worked in its present attempt, without the time that it was paused; null while it works */
            active_ms: number | null;
            /**
             * Format: date-time
             * @description When a worker or server with a lease of the run last showed that it is alive; null while the run has no lease, such as while it waits for a person
             */
            last_heartbeat_at: Date | null;
            /** @description Rises with every change */
            version_id: number;
            /**
             * Format: date-time
             * @description When it was archived: it can be read and restored, not changed; absent for other runs
             */
            archived_at?: Date;
            /** @description Only in the response to a signal: whether a step of the plan waits or will wait for it */
            awaited?: boolean;
        };
        /** @description Forks a run */
        RunActionFork: {
            /**
             * Format: name
             * @description Id of the task in the plan; `TASK#7` begins with round 7 of a task with `repeat`
             */
            task: string;
            /** @description The first turn of the task that is taken again, by its number in the transcript; the task must have ended */
            turn?: number;
            /** @description Differences of the task's agent from the run */
            overrides?: components["schemas"]["RunActionOverrides"];
            /** @description Values of inputs, by name */
            inputs?: Record<string, never>;
            /**
             * @description `live`: calls of the task are made. `recorded`: they have the results that they had in the run; the task must have ended and have turns
             * @default live
             * @enum {unknown}
             */
            calls?: "live" | "recorded" | Other;
            /**
             * @description Whether the fork has the task and the tasks it depends on only, which must have completed. It has no hooks, acceptance, ladder, new plans and checks by people
             * @default false
             */
            task_only?: boolean;
            /**
             * Format: name
             * @description Name of the new run; the name of the source if absent
             */
            name?: string;
        };
        /** @description Differences of a task's agent from the run */
        RunActionOverrides: {
            /**
             * Format: name
             * @description Model of its turns
             */
            model?: string;
            /** @description Instructions for the model */
            instructions?: string;
            /** @description Names of its tools */
            tools?: string[];
        };
        /** @description The first reason of the run's explanation */
        RunNow: {
            /** @description Code of the reason */
            code: string;
            /** @description Explanation for people */
            text: string;
            /**
             * Format: date-time
             * @description Since when the task or step is in this state
             */
            since: Date | null;
            /**
             * Format: date-time
             * @description When it is over by itself
             */
            until: Date | null;
        };
        /** @enum {unknown} */
        RunState: "created" | "pending" | "planning" | "awaiting_approval" | "ready" | "running" | "paused" | "budget_exceeded" | "escalated" | "resuming" | "retrying" | "completed" | "failed" | "cancelled" | "skipped" | Other;
        /** @description The status document of a run */
        RunStatus: {
            /** @description Id of the run, with the prefix `run_` */
            run_id: string;
            /** @description Agent of tasks without `suggested_agent` */
            agent_slug: string | null;
            /**
             * @description State in the names of the contract `lifecycle`
             * @enum {unknown}
             */
            status: "requested" | "queued" | "running" | "completed" | "failed" | Other;
            /** @description Source of the run, such as `manual` or `cron` */
            trigger: string | null;
            /**
             * Format: date-time
             * @description Time of its start; null before it
             */
            started_at: Date | null;
            /**
             * Format: date-time
             * @description Finished at
             */
            finished_at: Date | null;
            /** @description Name of the step that is executed; null without one */
            current_step: string | null;
            /** @description Number of steps */
            steps_total: number;
            /** @description Number of completed steps */
            steps_completed: number;
            /** @description Ids of proposals of all attempts */
            proposals_created: string[];
            /** @description `CODE: message`. The code of a failed run is the run lifecycle contract's: NLM_UNAVAILABLE, UPSTREAM_UNAVAILABLE, AGENT_TIMEOUT or INTERNAL_ERROR (its retries are exhausted), see `errors` of `GET /api/v1/lifecycles/lifecycle`. An error that none of them covers keeps the run's own `error_code`. Of a run that is completed although parts failed, it is `COMPLETED_WITH_FAILURES:` and how many. */
            error: string | null;
        };
        /** @description The undo of an ended run, which is a run of its own. The counts are zero until that run ends. */
        RunUndo: {
            /**
             * @description `requested` before that run exists, `running` until it ends, `undone` if all of its tasks are undone or dealt with by a person, `partly_undone` if some are not, `failed` or `cancelled` as that run, `nothing` if no work of the run has an undo, `refused` if that run could not be created
             * @enum {unknown}
             */
            state: "requested" | "running" | "undone" | "partly_undone" | "failed" | "cancelled" | "nothing" | "refused" | Other;
            /**
             * Format: uuid
             * @description The run that undoes; null before it exists
             */
            run_id: string | null;
            /** @description Number of its tasks */
            tasks: number;
            /** @description Tasks that completed */
            undone: number;
            /** @description Tasks that a person has done by other means */
            by_hand: number;
            /** @description Tasks whose original was not done, by a person's answer */
            not_done: number;
            /** @description All other tasks */
            not_undone: number;
            /** @description Decisions of that run that only people can take and that are due now, without decisions about child runs */
            waits_for_humans: number;
            /** @description The principal that requested it; `system` if the run's configuration did */
            requested_by: string;
            /** @description Reason of the request; null if absent */
            reason: string | null;
            /**
             * Format: date-time
             * @description Time of the request
             */
            requested_at: Date;
            /** @description Why it was refused; null if absent */
            error_code: string | null;
            /** @description Text of the refusal; null if absent */
            error_message: string | null;
        };
        /** @enum {unknown} */
        Scope: "runs:read" | "runs:write" | "approve" | "work" | "credits:read" | "credits:grant" | "admin" | "operator" | Other;
        /** @enum {unknown} */
        StateType: "pending" | "running" | "paused" | "terminal" | Other;
        /** @description A step of a task, the unit of a claim */
        Step: {
            /**
             * Format: uuid
             * @description Id of the resource
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of the run
             */
            run_id: string;
            /**
             * Format: uuid
             * @description Id of the task
             */
            task_id: string;
            /** @description The id of its task in the plan */
            task_key: string;
            /** @description It belongs to a row or an attempt of its task that another has replaced */
            superseded: boolean;
            /** @description Name in the plan */
            name: string;
            /**
             * @description Kind of the step
             * @enum {unknown}
             */
            kind: "tool" | "turn" | "call" | "approval" | "wait" | "signal" | "run" | "verify" | Other;
            /** @description Name of the tool; null for a wait */
            tool: string | null;
            /** @description In its task; the turns and calls of an agent share one */
            position: number;
            /** @description Counts the turns and calls of one position */
            turn: number;
            /** @description State of the step */
            state: components["schemas"]["StepState"];
            /** @description Kind of the state */
            state_type: components["schemas"]["StateType"];
            /** @description The attempt of its task that it belongs to */
            task_attempt: number;
            /** @description Number of its attempt, from 0 before the first claim */
            attempt: number;
            /** @description Failed attempts so far */
            failures: number;
            /** @description It failed and its task continued without it */
            failure_ignored: boolean;
            /** @description Resolved, once it has a result; before that the plan's. After a failure null where the plan's has expressions and no resolved input was recorded. In lists null where it is longer than 16384 bytes */
            input: unknown;
            /** @description In lists null where it is longer than 16384 bytes */
            output: unknown;
            /** @description With `light`: the size of the input as JSON */
            input_bytes?: number | null;
            /** @description With `light`: its first 1,024 characters */
            input_start?: string | null;
            /** @description With `light`: size of the output as JSON, in bytes */
            output_bytes?: number | null;
            /** @description With `light`: first 1,024 characters of the output */
            output_start?: string | null;
            /** @description In lists and with `light`, the members whose values were omitted; the read of a single step returns them */
            omitted?: ("input" | "output")[];
            /** @description Maximum number of attempts */
            max_attempts: number | null;
            /** @description Rises with every claim */
            lease_epoch: number;
            /**
             * Format: uuid
             * @description The step whose program has made the call; null for any other step
             */
            called_by: string | null;
            /** @description The step whose result it has taken over, at no cost; null for a step that was executed */
            result_from: components["schemas"]["ResultSource"] | null;
            /** @description Code of the error; null without one */
            error_code: string | null;
            /** @description Message of the error; null without one */
            error_message: string | null;
            /** @description Class of the error, which decides whether it is retried */
            error_class: string | null;
            /** @description Tokens that it used */
            tokens: number;
            /** @description Cost in credits */
            cost: Decimal;
            /** @description Part that is done; as its worker last reported */
            progress: Decimal | null;
            /** @description Message of the last progress report */
            progress_message: string | null;
            /**
             * Format: date-time
             * @description Next run at
             */
            next_run_at: Date | null;
            /**
             * Format: date-time
             * @description Time of its start; null before it
             */
            started_at: Date | null;
            /**
             * Format: date-time
             * @description Time of its end; null while it is open
             */
            completed_at: Date | null;
            /**
             * Format: date-time
             * @description Time of its creation
             */
            created_at: Date;
        };
        /**
         * Format: id
         * @description A UUID, also with the prefix `step_`
         */
        StepId: string;
        /** @enum {unknown} */
        StepState: "pending" | "running" | "waiting" | "waiting_approval" | "awaiting_retry" | "completed" | "failed" | "cancelled" | "skipped" | Other;
        /** @description A task of a run */
        Task: {
            /**
             * Format: uuid
             * @description Id of the resource
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of the run
             */
            run_id: string;
            /**
             * Format: uuid
             * @description Id of its workspace
             */
            workspace_id: string;
            /** @description Its id in the plan */
            key: string;
            /** @description Its position in the plan */
            sequence_number: number;
            /** @description Title of the task */
            title: string;
            /** @description Text for people */
            description: string | null;
            /** @description Kind of work (PRD-101); the engine's own tasks have types of their own */
            task_type: components["schemas"]["TaskType"];
            /** @description Criteria that the output must meet; null if absent */
            success_criteria: string | null;
            /**
             * @description Condition on upstream tasks under which it starts
             * @enum {unknown}
             */
            trigger_rule: "all_success" | "all_done" | "none_failed" | "always" | Other;
            /** @description Keys of the tasks that it depends on */
            depends_on: string[];
            /** @description Of an item of a fan-out: the task that fanned out; of a round: the task with `repeat` */
            group_id: string | null;
            /** @description Of an item of a fan-out, from 0; of a round its number */
            item_index: number | null;
            /** @description The item of the fan-out */
            item: unknown;
            /** @description Of a round of a `repeat`: its number, from 1; of the task with `repeat`: the number of its last round. Null for others */
            round: number | null;
            /** @description Of a task with `repeat`: the maximum number of its rounds; null for others */
            max_rounds: number | null;
            /** @description Its place in the switches and groups of the plan; null outside of any */
            flow: components["schemas"]["TaskFlow"] | null;
            /** @description The task of an earlier attempt whose output was reused */
            reused_from: string | null;
            /** @description The step whose result its last step has taken over; null for others */
            result_from: components["schemas"]["ResultSource"] | null;
            /** @description Of an agent of the roster */
            agent_id: number | null;
            /** @description Kind of its agent */
            agent_type: string | null;
            /** @description Name of its agent */
            agent_name: string | null;
            /** @description Model of the task; null for the model of its agent */
            model_override: string | null;
            /** @description Names of the tools that its agent may use; null if absent */
            tools_requested: string[] | null;
            /** @description Number of its board task; null without one */
            board_task_id: number | null;
            /** @description State of the task */
            state: components["schemas"]["TaskState"];
            /** @description Kind of the state */
            state_type: components["schemas"]["StateType"];
            /** @description `paused` for an open task while its run is paused, escalated or stopped at its limit; else the `state` */
            effective_state: string;
            /** @description The run's attempt */
            attempt: number;
            /** @description Its own attempt */
            attempt_number: number;
            /** @description Failed attempts so far */
            failures: number;
            /** @description How often its attempt has continued with another turn; turns after tool calls do not count */
            continuation_count: number;
            /** @description The steps of its present attempt */
            step_count: number;
            /** @description It failed, or all its steps or items that were not skipped did, and the run continued without it */
            failure_ignored: boolean;
            /** @description Another row has taken its place, or no plan needs it any more */
            superseded: boolean;
            /**
             * Format: date-time
             * @description Time of the next attempt; null while its ticket is open
             */
            next_run_at: Date | null;
            /** @description The attempt in question while a person decides; null if absent */
            gate: number | null;
            /** @description Its open ticket */
            ticket_id: string | null;
            /** @description Score of the last verdict; null without one */
            verifier_score: Decimal | null;
            /** @description Source of the last verdict: auto (a verifying tool) or human */
            verified_by: string | null;
            /** @description In lists null where it is longer than 16384 bytes */
            output: unknown;
            /** @description The first 2000 characters of the output */
            output_summary: string | null;
            /** @description Where the whole output is read, `/api/v1/tasks/{id`/output}; null if `output_summary` is the whole output */
            output_ref: string | null;
            /** @description With `light`: the size of the output as JSON */
            output_bytes?: number | null;
            /** @description With `light`: its first 1,024 characters */
            output_start?: string | null;
            /** @description With `light`: size of the item as JSON, in bytes */
            item_bytes?: number | null;
            /** @description With `light`: first 1,024 characters of the item */
            item_start?: string | null;
            /** @description In lists and with `light`, the members whose values were omitted; the read of a single task returns them */
            omitted?: ("output" | "item")[];
            /** @description Code of the error; null without one */
            error_code: string | null;
            /** @description Message of the last error; of an output before a person, the verifier's feedback */
            error_message: string | null;
            /** @description Class of the error, which decides whether it is retried */
            error_class: string | null;
            /** @description Of all its attempts */
            tokens_used: number;
            /** @description Of all its attempts */
            cost: Decimal;
            /**
             * Format: date-time
             * @description Time of its creation
             */
            created_at: Date;
            /**
             * Format: date-time
             * @description Time of its last change
             */
            updated_at: Date;
            /**
             * Format: date-time
             * @description When it was last queued: later than `started_at` after a retry
             */
            queued_at: Date | null;
            /**
             * Format: date-time
             * @description Time of its start; null before it
             */
            started_at: Date | null;
            /**
             * Format: date-time
             * @description Time of its end; null while it is open
             */
            completed_at: Date | null;
            /**
             * Format: date-time
             * @description `completed_at` of a cancelled task; null for others
             */
            cancelled_at: Date | null;
            /** @description From start to end */
            duration_ms: number | null;
            /** @description Rises with every change */
            version_id: number;
        };
        /** @description The budget of a task in all attempts of its run */
        TaskBudget: {
            /** @description Id of the task in the plan; of a for_each, the budget covers all items */
            task: string;
            /** @description Maximum cost; by the plan until a person raises it */
            budget_usd: Decimal;
            /** @description Charges of its steps with the charges and possible costs of the runs that they started */
            used: Decimal;
            /** @description Whether it has stopped the run, which has not continued since */
            exceeded: boolean;
        };
        /** @description The place of a task in the switches and groups of its plan as it was written */
        TaskFlow: {
            /** @description The switch whose branch the task chooses; null for other tasks */
            chooses: string | null;
            /** @description The switch or group that ends with the task; null for other tasks */
            ends: string | null;
            /** @description Of a task that chooses, in the order of their conditions */
            branches: components["schemas"]["TaskFlowBranch"][];
            /** @description Branches and groups that contain the task, the outermost first */
            within: components["schemas"]["TaskFlowPlace"][];
        };
        /** @description A branch of a switch */
        TaskFlowBranch: {
            /** @description Unique in its switch */
            name: string;
            /** @description Its condition; null for the branch that is chosen if no condition holds */
            when: string | null;
        };
        /** @description A branch or group that contains a task */
        TaskFlowPlace: {
            /** @description Id of the switch or group */
            of: string;
            /** @description Name of the switch's branch; null for a group */
            branch: string | null;
        };
        /** @description A round of a task or of a group with `repeat`. Of a group, it has the sums and the worst state of its tasks. */
        TaskRound: {
            /** @description Number of the round */
            round: number;
            /**
             * Format: uuid
             * @description Id of its task; of a folded round, that its task had; of a group, the id of one of its tasks
             */
            task_id: string;
            /** @description Whether the round is all that is left: its task and steps are gone */
            folded: boolean;
            /** @description State of its task */
            state: components["schemas"]["TaskState"];
            /** @description Number of its attempts; of a group, of the task with the most */
            attempts: number;
            /** @description Of all its attempts */
            tokens_used: number;
            /** @description Of all its attempts, in credits */
            cost: Decimal;
            /** @description Of a completed round; of a group, the outputs of its tasks by their names; null where it is longer than 16384 bytes */
            output: unknown;
            /** @description `output` where its value was omitted */
            omitted?: "output"[];
            /** @description Code of the error; null without one */
            error_code: string | null;
            /** @description Message of the error; null without one */
            error_message: string | null;
            /**
             * Format: date-time
             * @description Time of its start; null before it
             */
            started_at: Date | null;
            /**
             * Format: date-time
             * @description Time of its end; null while it is open
             */
            completed_at: Date | null;
            /** @description Of a group: its tasks; null of a task */
            tasks: components["schemas"]["TaskRoundRoundTask"][] | null;
        };
        /** @description A task of a round of a group */
        TaskRoundRoundTask: {
            /** @description Its id in the group */
            name: string;
            /**
             * Format: uuid
             * @description Its id; of a folded round, that it had
             */
            task_id: string;
            /** @description State of the task */
            state: components["schemas"]["TaskState"];
        };
        /** @enum {unknown} */
        TaskState: "pending" | "queued" | "assigned" | "running" | "continuing" | "verifying" | "awaiting_human" | "awaiting_retry" | "completed" | "failed" | "cancelled" | "skipped" | Other;
        /**
         * @description Kind of work (PRD-101); the engine's own tasks have types of their own
         * @enum {unknown}
         */
        TaskType: "research" | "analysis" | "writing" | "coding" | "verification" | "review" | "synthesis" | "other" | "planning" | "hook_before" | "hook_after" | Other;
        /** @description Tokens of a model by their price. No token is in two of `input`, `cacheRead`, `cacheWrite` and `output`, which sum up to all tokens. */
        TokenUsage: {
            /** @description That the provider's cache neither had nor kept */
            input: number;
            /** @description Input from the provider's cache */
            cache_read: number;
            /** @description Input that the provider's cache kept */
            cache_write: number;
            /** @description Written by the model, reasoning included */
            output: number;
            /** @description The part of output that is reasoning */
            reasoning: number;
        };
        /** @description A trigger, which starts runs of a recipe or of a mission, or signals runs, when events arrive */
        Trigger: {
            /**
             * Format: uuid
             * @description Id of the resource
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of its workspace
             */
            workspace_id: string;
            /** @description Name, unique in the workspace */
            name: string;
            /** @description Path of the server at which it receives events; null for the kind `run` */
            path: string | null;
            /** @description Source of its events */
            source: components["schemas"]["TriggerSource"];
            /** @description Expression for the identity of an event; null for the id that the source's sender gives */
            key: string | null;
            /** @description Expression that an event must meet; null for all events */
            filter: string | null;
            /**
             * Format: uuid
             * @description Id of the recipe; null for a mission or a signal
             */
            recipe_id: string | null;
            /** @description The mission in the shape of a mission file; null for a recipe or a signal, absent in lists */
            mission?: Record<string, never> | null;
            /** @description Signal that it sends to other runs, as it was given; null for a recipe or a mission */
            signal: Record<string, never> | null;
            /** @description Values of inputs, by name, with expressions */
            inputs: Record<string, never>;
            /** @description Expression for the priority of the run; null for that of the mission */
            priority: string | null;
            /** @description Rules by which events wait, are merged or dropped, as they were given; null without rules */
            flow: Record<string, never> | null;
            /** @description Event by which the expressions were checked; null without one, absent in lists */
            example?: Record<string, never> | null;
            /** @description Whether it receives events and starts runs */
            enabled: boolean;
            /** @description Number of the version, from 1 */
            version: number;
            /** @description Name of the principal that created it */
            created_by: string;
            /**
             * Format: date-time
             * @description Time of its creation
             */
            created_at: Date;
            /**
             * Format: date-time
             * @description Time of its last change
             */
            updated_at: Date;
        };
        /** @description An event that a trigger has received, and its outcome */
        TriggerDelivery: {
            /**
             * Format: uuid
             * @description Id of the resource
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of the trigger
             */
            trigger_id: string;
            /** @description Identity of the event */
            key: string;
            /**
             * @description Outcome: `started` a run, `signalled` a run that existed, `merged` into the run of other events, `dropped` by a rule of the trigger, `refused` as it does not fit the recipe, `dead` after repeated failures
             * @enum {unknown}
             */
            state: "pending" | "started" | "signalled" | "merged" | "dropped" | "refused" | "dead" | Other;
            /**
             * Format: uuid
             * @description Id of the run; null if none is started or will be
             */
            run_id: string | null;
            /** @description Number of further deliveries of the event */
            repeats: number;
            /** @description Number of failed attempts */
            failures: number;
            /** @description Why it waits or has no run; null otherwise */
            error_code: string | null;
            /** @description Message of the error; null without one */
            error_message: string | null;
            /**
             * Format: date-time
             * @description Time of the first delivery
             */
            received_at: Date;
            /**
             * Format: date-time
             * @description When it is decided next at the latest, such as the end of its wait for a rule of flow; null before its first decision and once it is decided
             */
            due_at: Date | null;
            /**
             * Format: date-time
             * @description Time of the outcome; null before
             */
            decided_at: Date | null;
            /** @description Headers of the request without credentials; absent in lists */
            headers?: Record<string, never> | null;
            /** @description Body of the request; absent in lists */
            body?: Decimal | null;
        };
        /** @description Answer to the sender of an event */
        TriggerDeliveryReceipt: {
            /**
             * Format: uuid
             * @description Id of the delivery
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of the trigger
             */
            trigger_id: string;
            /** @description Identity of the event */
            key: string;
            /** @description Whether the event was received before */
            duplicate: boolean;
            /**
             * @description Outcome so far
             * @enum {unknown}
             */
            state: "pending" | "started" | "signalled" | "merged" | "dropped" | "refused" | "dead" | Other;
            /**
             * Format: uuid
             * @description Id of the run; null if none is started or will be
             */
            run_id: string | null;
        };
        /** @description Deliveries that are decided again */
        TriggerDeliveryReplayed: {
            /** @description Number of them, 5,000 at most */
            count: number;
            /** @description Whether further ones follow */
            more: boolean;
        };
        /** @description Source of events */
        TriggerSource: {
            /**
             * @description Proof that a sender of events has to give
             * @enum {unknown}
             */
            kind: "standard" | "github" | "stripe" | "slack" | "secret" | "basic" | "event" | "run" | Other;
            /** @description Names of the workspace's secrets, each of which is accepted */
            secrets: string[];
            /** @description Header with the secret; null but for `secret` */
            header: string | null;
            /** @description Name of the user; null but for `basic` */
            user: string | null;
            /** @description Name of the events; null but for `event` */
            event: string | null;
            /** @description Maximum difference of a signature's time to the server's time, in seconds */
            tolerance_seconds: number;
        };
        /** @description A step under the worker's lease */
        WorkItem: {
            /**
             * Format: uuid
             * @description Id of the step
             */
            step_id: string;
            /**
             * Format: uuid
             * @description Id of the run
             */
            run_id: string;
            /**
             * Format: uuid
             * @description Id of the task
             */
            task_id: string;
            /** @description Tool to call */
            tool: string;
            /** @description Resolved input */
            input: unknown;
            /** @description Number of the step's attempt */
            attempt: number;
            /** @description Epoch of the lease */
            lease_epoch: number;
            /**
             * Format: date-time
             * @description End of the lease without a heartbeat
             */
            lease_expires_at: Date;
            /**
             * Format: date-time
             * @description End of the attempt by the step's `timeout_seconds`, however often the lease is renewed
             */
            deadline: Date;
            /** @description Key for providers: equal over reclaims and infrastructure retries */
            effect_key: string;
            /** @description `error_code`, `error_class` and `message` of the last failure; in a task's further attempt `task_attempt` and, as `task_failure`, the end of the previous one, a verifier's feedback for example */
            failure_context: unknown;
            /** @description Details of the last heartbeat of an earlier holder */
            details: unknown;
            /** @description The W3C Trace Context header for calls made by the step */
            traceparent: string | null;
            /** @description Tokens of output that the credits held for the step's `worst_case` pay, reasoning included; pass it to the provider. Null without a worst case */
            max_output_tokens: number | null;
            /** @description Access to the gateway; null if its tool has not announced `gateway` */
            gateway: components["schemas"]["WorkItemGateway"] | null;
            /** @description The next steps of the task, if the claim has `chains`: to be executed after this one, in their order, until one does not complete. The lease of each begins when the results of those before it are reported; until then heartbeats and uploads are refused */
            following: components["schemas"]["WorkItemFollowing"][];
        };
        /** @description A step of the same task, whose lease has not begun */
        WorkItemFollowing: {
            /**
             * Format: uuid
             * @description Id of the step
             */
            step_id: string;
            /** @description Tool to call */
            tool: string;
            /** @description Resolved input */
            input: unknown;
            /** @description Number of the step's attempt */
            attempt: number;
            /** @description Epoch of the lease to come */
            lease_epoch: number;
            /**
             * Format: date-time
             * @description End of the attempt, if its lease began now
             */
            deadline: Date;
            /** @description Key for providers */
            effect_key: string;
            /** @description The W3C Trace Context header for calls made by the step */
            traceparent: string | null;
        };
        /** @description Access to the gateway, as long as the lease lasts. Its text form shows no token. */
        WorkItemGateway: {
            /** @description Of the step's lease, as bearer or as `x-api-key`: for `/gateway/openai/v1`, `/gateway/anthropic` and `/gateway/mcp` of this server, and for nothing else */
            token: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
