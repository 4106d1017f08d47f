package io.keelson.server.app.metrics;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** All metrics; docs/reference/metrics.md is generated from them. Labels have few values, and none names a tenant. */
public enum Metric {
    RUNS_SUBMITTED(Kind.COUNTER, "keelson_runs_submitted_total", "runs made, by what made them", "trigger"),
    RUNS_FAILED(Kind.COUNTER, "keelson_runs_failed_total", "runs that failed, by error code; after 100 codes `other`",
            "error_code"),
    RUNS_WITH_FAILURES(Kind.COUNTER, "keelson_runs_with_failures_total",
            "runs that completed or were skipped with failed parts"),
    RUN_TRANSITIONS(Kind.COUNTER, "keelson_run_transitions_total", "runs that entered a state", "to"),
    AGENT_TRANSITIONS(Kind.COUNTER, "keelson_agent_transitions_total", "agents that entered a state", "to"),
    TASK_TRANSITIONS(Kind.COUNTER, "keelson_task_transitions_total", "tasks that entered a state", "to"),
    STEP_TRANSITIONS(Kind.COUNTER, "keelson_step_transitions_total",
            "steps that entered a state; `running`: attempts that began", "to"),
    STEP_ERRORS(Kind.COUNTER, "keelson_step_errors_total", "attempts of steps that failed, retried or not",
            "error_class"),
    RETRIES(Kind.COUNTER, "keelson_retries_total", "scheduled attempts beyond the first", "entity"),
    LEASES_LOST(Kind.COUNTER, "keelson_leases_lost_total", "leases that expired without a heartbeat"),
    LEASES_RELEASED(Kind.COUNTER, "keelson_leases_released_total", "leases handed back before the work was done"),
    TASK_ROUNDS(Kind.COUNTER, "keelson_task_rounds_total", "ended rounds of tasks with repeat"),
    UNDOS(Kind.COUNTER, "keelson_undos_total", "ended undos of runs"),
    RESULTS_REUSED(Kind.COUNTER, "keelson_results_reused_total", "results that steps took over from others"),
    RESULTS_AWAITED(Kind.COUNTER, "keelson_results_awaited_total", "waits of steps for the result of another step"),
    STEPS_DEFERRED(Kind.COUNTER, "keelson_steps_deferred_total", "steps handed back because a system was busy"),
    HUMANS_ASKED(Kind.COUNTER, "keelson_humans_asked_total", "new waits for a person", "what"),
    LEDGER_ENTRIES(Kind.COUNTER, "keelson_ledger_entries_total", "ledger entries of runs", "kind"),
    CREDITS(Kind.COUNTER, "keelson_credits_total", "credits moved by those entries", "kind"),
    UNPRICED(Kind.COUNTER, "keelson_unpriced_tokens_total",
            "tokens without a charge because neither their model nor the tool has a price"),
    HOLDS_EXCEEDED(Kind.COUNTER, "keelson_holds_exceeded_total",
            "step attempts that cost more than the credits held for their worst case"),
    MODEL_TOKENS(Kind.COUNTER, "keelson_model_tokens_total",
            "tokens of a model by their price: `input`, `cache_read`, `cache_write` or `output`; after 100 models `other`",
            "model", "part"),
    MODEL_COST(Kind.COUNTER, "keelson_model_cost_usd_total", "cost of the steps that used a model", "model"),
    MODEL_FIRST_TEXT(Kind.HISTOGRAM, "keelson_model_first_text_seconds",
            "from the request to a model of this server to the first part of its answer", "model"),
    MODEL_DEFERRALS(Kind.COUNTER, "keelson_model_deferrals_total",
            "requests that a model's provider answered with a pause", "model"),
    GATEWAY_REQUESTS(Kind.COUNTER, "keelson_gateway_requests_total",
            "requests of programs to a model by their outcome: sent, replayed, diverged (the first new one after replayed ones), "
                    + "refused by a limit, too_many (in flight, or bytes of them), or unread (its client has not read the answer)",
            "model", "outcome"),
    GATEWAY_CALLS(Kind.COUNTER, "keelson_gateway_calls_total",
            "calls of tools by programs by their outcome: made, replayed, refused, or parked (the program is ended until a person answers)",
            "outcome"),
    RUNS_OPEN(Kind.GAUGE, "keelson_runs_open", "runs that have not ended, 100,000 at most", "state"),
    RUNS_OLDEST(Kind.GAUGE, "keelson_runs_oldest_seconds",
            "longest time of a run in that state; 0 without one", "state"),
    RUNS_OLDEST_ACTIVE(Kind.GAUGE, "keelson_runs_oldest_active_seconds",
            "longest time of a run at work, without waits for people, times, signals or child runs; 0 without one"),
    QUEUE_WAITING(Kind.GAUGE, "keelson_queue_waiting", "unclaimed work, 100,000 at most"),
    QUEUE_LEASED(Kind.GAUGE, "keelson_queue_leased", "claimed work, 100,000 at most"),
    QUEUE_UNSERVED(Kind.GAUGE, "keelson_queue_unserved_version",
            "unclaimed work for versions without a worker seen within a minute, 100,000 at most"),
    QUEUE_AGE(Kind.GAUGE, "keelson_queue_oldest_seconds", "wait of the oldest unclaimed work"),
    ESCALATIONS(Kind.GAUGE, "keelson_escalations_open", "open escalation tickets, 100,000 at most"),
    INBOX(Kind.GAUGE, "keelson_inbox_items", "items that wait for a person, by kind, 100,000 at most in all", "kind"),
    INBOX_AGE(Kind.GAUGE, "keelson_inbox_oldest_seconds", "wait of the oldest of them; 0 without one",
            "kind"),
    ARCHIVE_RUNS(Kind.COUNTER, "keelson_archive_runs_total",
            "runs that moved to the archive (archived), left it by age (deleted), or could not be stored in it (failed; counted at "
                    + "each attempt)",
            "outcome"),
    ARCHIVE_BYTES(Kind.COUNTER, "keelson_archive_bytes_total", "bytes of the objects with archived runs"),
    WEBHOOK_ATTEMPTS(Kind.COUNTER, "keelson_webhook_attempts_total",
            "delivery attempts: `delivered`, `failed` (tried again), `dead` (the last one) or `gone` (answered 410, or "
                    + "404 by a service for messages); `format`: `standard`, `slack`, `teams` or `mail`",
            "outcome", "format"),
    TRIGGER_DELIVERIES(Kind.COUNTER, "keelson_trigger_deliveries_total",
            "events of triggers: `received`, `duplicate` (received before), `unverified` (refused without a valid proof), and their outcomes: "
                    + "`started`, `merged`, `dropped`, `refused` or `dead`",
            "outcome"),
    RABBITMQ_MESSAGES(Kind.COUNTER, "keelson_rabbitmq_messages_total",
            "messages to the broker about ready work: `sent`, `repeated` (while the work was still unclaimed), `refused` (the queue was "
                    + "full; sent later) or `unconfirmed` (sent later)",
            "outcome"),
    RABBITMQ_CONNECTED(Kind.GAUGE, "keelson_rabbitmq_connected",
            "1 while this server is connected to a broker, else 0"),
    WEBHOOK_PENDING(Kind.GAUGE, "keelson_webhook_pending",
            "waiting deliveries of enabled webhooks, 100,000 at most"),
    WEBHOOK_AGE(Kind.GAUGE, "keelson_webhook_oldest_seconds",
            "longest wait of a next delivery, but for webhooks with quiet hours or digests; 0 without one"),
    WEBHOOKS_FAILING(Kind.GAUGE, "keelson_webhooks_failing", "enabled webhooks whose last attempt failed"),
    WORKERS(Kind.GAUGE, "keelson_workers", "remote workers seen within a minute"),
    NODES(Kind.GAUGE, "keelson_nodes", "servers of this database seen within a minute"),
    RESERVED(Kind.GAUGE, "keelson_credits_reserved", "credits reserved for open runs"),
    OUTAGES(Kind.GAUGE, "keelson_outages", "recorded times without a live server"),
    BACKLOG_UP(Kind.GAUGE, "keelson_backlog_up",
            "1 when the database answered with the gauges of the whole installation, else 0"),
    COMMIT_BATCHES(Kind.COUNTER, "keelson_commit_batches_total",
            "batches of commands: decided `at_hand`; under locks, again or from the start, for a `stale` view "
                    + "or a workspace with `insufficient_credits`; `refused` by the database",
            "way"),
    COMMIT_BATCH_TIME(Kind.HISTOGRAM, "keelson_commit_batch_duration_seconds",
            "from a batch's first decision to its commit"),
    COMMIT_BATCH_SIZE(Kind.HISTOGRAM, "keelson_commit_batch_commands", "commands in a batch"),
    OVERLOADED(Kind.COUNTER, "keelson_commands_overloaded_total",
            "commands refused because of overload"),
    MISSIONS(Kind.COUNTER, "keelson_missions_total",
            "missions of requests: `known` by an equal document, or `read` and checked", "how"),
    EXECUTOR_BUSY(Kind.GAUGE, "keelson_executor_busy",
            "steps that run on this server: `computing`, `waiting` for another system (`http.request`), or for a `model`",
            "slots"),
    EXECUTOR_SLOTS(Kind.GAUGE, "keelson_executor_slots",
            "steps that may run on this server at a time", "slots"),
    RECONCILER_SCANS(Kind.COUNTER, "keelson_reconciler_scans_total", "scans for conditions that nothing reported",
            "duty"),
    RECONCILER_REPAIRS(Kind.COUNTER, "keelson_reconciler_repairs_total", "conditions that a scan found and repaired",
            "duty"),
    BACKGROUND_RUNS(Kind.COUNTER, "keelson_background_runs_total", "runs of this server's background tasks", "task"),
    BACKGROUND_FAILURES(Kind.COUNTER, "keelson_background_failures_total",
            "failed runs of this server's background tasks", "task"),
    BACKGROUND_TIME(Kind.GAUGE, "keelson_background_last_duration_seconds", "duration of a task's last run", "task"),
    BACKGROUND_AGE(Kind.GAUGE, "keelson_background_success_age_seconds",
            "time since a task's last successful run, or since its start; some tasks run only on demand", "task"),
    DATABASE_UP(Kind.GAUGE, "keelson_database_up", "1 while the database answers this server's poller"),
    DATABASE_OUTAGES(Kind.COUNTER, "keelson_database_outages_total", "times that the database stopped answering"),
    DATABASE_WENT_BACK(Kind.GAUGE, "keelson_database_went_back",
            "1 while the database lacks commits that a server knew, until an operator accepts it"),
    DATABASE_TIMELINE(Kind.GAUGE, "keelson_database_timeline",
            "timeline of the database, which each failover raises"),
    DATABASE_SIZE(Kind.GAUGE, "keelson_database_size_bytes", "size of the database with its indexes, without WAL"),
    OLDEST_TRANSACTION(Kind.GAUGE, "keelson_database_oldest_transaction_seconds",
            "age of the oldest open or prepared transaction of the database"),
    STANDBYS(Kind.GAUGE, "keelson_database_standbys", "connected standbys: `synchronous` or `asynchronous`", "kind"),
    STANDBYS_WANTED(Kind.GAUGE, "keelson_database_synchronous_wanted",
            "1 while `synchronous_standby_names` is set"),
    STANDBY_LAG_BYTES(Kind.GAUGE, "keelson_database_standby_lag_bytes",
            "WAL that a standby has not replayed, at most; 0 without a standby"),
    STANDBY_LAG(Kind.GAUGE, "keelson_database_standby_lag_seconds",
            "time from a commit to its replay by a standby, at most; 0 without a standby"),
    ARCHIVE_BACKLOG(Kind.GAUGE, "keelson_database_archive_backlog_bytes",
            "WAL that is not archived, the present segment included; `NaN` if the database archives none"),
    ARCHIVE_FAILING(Kind.GAUGE, "keelson_database_archive_failing",
            "1 while the last attempt to archive a segment of WAL has failed"),
    BACKUP_AGE(Kind.GAUGE, "keelson_backup_age_seconds",
            "time since the latest recorded backup; `NaN` without one"),
    DATA_FOLDER_FREE(Kind.GAUGE, "keelson_data_folder_free_bytes",
            "space left on the disk of this server's data folder, which has the embedded database and the artifacts"),
    DATA_FOLDER_SIZE(Kind.GAUGE, "keelson_data_folder_size_bytes", "size of that disk"),
    POOL(Kind.GAUGE, "keelson_pool_connections", "connections of a pool, and callers waiting for one", "pool",
            "state"),
    POOL_MOST(Kind.GAUGE, "keelson_pool_connections_most", "maximum connections of a pool", "pool"),
    ARTIFACT_REQUESTS(Kind.COUNTER, "keelson_artifact_store_requests_total",
            "requests to the artifact store, folder or object store: `ok`, `missing` (no such content), `content` (it broke off or was "
                    + "refused) or `failed` (the store)",
            "operation", "outcome"),
    ARTIFACT_TIME(Kind.HISTOGRAM, "keelson_artifact_store_seconds",
            "duration of a request to the artifact store; of a read, until it begins; of a put, with the time in which its content arrives",
            "operation"),
    ARTIFACT_BYTES(Kind.COUNTER, "keelson_artifact_store_bytes_total",
            "bytes that this server stored in and read from the artifact store", "direction"),
    HTTP_REQUESTS(Kind.COUNTER, "keelson_http_requests_total",
            "requests answered; `unmatched` where no route has the path",
            "method", "route", "status"),
    HTTP_TIME(Kind.HISTOGRAM, "keelson_http_request_duration_seconds",
            "from a request's head to the end of its response; long polls included", "method", "route"),
    HTTP_REFUSALS(Kind.COUNTER, "keelson_http_refusals_total",
            "requests refused, by error code; `REQUEST_LIMIT_REACHED` for the rate limit", "code"),
    MEMORY(Kind.GAUGE, "jvm_memory_used_bytes", "memory in use", "area"),
    MEMORY_MOST(Kind.GAUGE, "jvm_memory_max_bytes", "maximum memory; -1 for no limit", "area"),
    COLLECTIONS(Kind.COUNTER, "jvm_gc_collections_total", "garbage collections", "gc"),
    COLLECTION_TIME(Kind.COUNTER, "jvm_gc_seconds_total", "time in garbage collections", "gc"),
    THREADS(Kind.GAUGE, "jvm_threads", "platform threads"),
    CPU(Kind.COUNTER, "process_cpu_seconds_total", "processor time used"),
    FILES(Kind.GAUGE, "process_open_fds", "open files and connections"),
    STARTED(Kind.GAUGE, "process_start_time_seconds", "start of the process, since 1970"),
    BUILD(Kind.GAUGE, "keelson_build", "always 1", "version");

    /** The types of Prometheus. */
    public enum Kind {
        COUNTER, GAUGE, HISTOGRAM
    }

    private final Kind kind;
    private final String served;
    private final String meaning;
    @SuppressWarnings("ImmutableEnumChecker") // a list of List.of cannot change
    private final List<String> labels;

    Metric(Kind kind, String served, String meaning, String... labels) {
        this.kind = kind;
        this.served = served;
        this.meaning = meaning;
        this.labels = List.of(labels);
    }

    /** Its name as served, units and suffixes included. */
    public String served() {
        return served;
    }

    /** One phrase in Markdown, for the documentation. */
    public String meaning() {
        return meaning;
    }

    public List<String> labels() {
        return labels;
    }

    /** {@code counter}, {@code gauge} or {@code histogram}. */
    public String kind() {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    /** Every name of its samples. */
    public List<String> samples() {
        return kind == Kind.HISTOGRAM
                ? List.of(served + "_bucket", served + "_count", served + "_sum", served + "_max")
                : List.of(served);
    }

    static List<Metric> all() {
        return Arrays.asList(values());
    }
}
