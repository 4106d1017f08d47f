package io.keelson.server.metrics;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Every metric that is served; docs/metrics.md is written from it. Labels have few values, and none names a tenant. */
public enum Metric {
    RUNS_SUBMITTED(Kind.COUNTER, "keelson_runs_submitted_total", "runs made, by what made them", "trigger"),
    RUNS_FAILED(Kind.COUNTER, "keelson_runs_failed_total", "runs that failed, by error code; after 100 codes `other`",
            "error_code"),
    RUNS_WITH_FAILURES(Kind.COUNTER, "keelson_runs_with_failures_total",
            "runs that completed or were skipped although parts of them failed"),
    RUN_TRANSITIONS(Kind.COUNTER, "keelson_run_transitions_total", "runs that went into a state", "to"),
    AGENT_TRANSITIONS(Kind.COUNTER, "keelson_agent_transitions_total", "agents that went into a state", "to"),
    TASK_TRANSITIONS(Kind.COUNTER, "keelson_task_transitions_total", "tasks that went into a state", "to"),
    STEP_TRANSITIONS(Kind.COUNTER, "keelson_step_transitions_total",
            "steps that went into a state; into `running`: attempts that began", "to"),
    STEP_ERRORS(Kind.COUNTER, "keelson_step_errors_total", "attempts of steps that failed, retried or not",
            "error_class"),
    RETRIES(Kind.COUNTER, "keelson_retries_total", "attempts beyond the first that were decided on", "entity"),
    LEASES_LOST(Kind.COUNTER, "keelson_leases_lost_total", "leases that ran out because their holder was not heard of"),
    LEASES_RELEASED(Kind.COUNTER, "keelson_leases_released_total", "leases handed back before the work was done"),
    HUMANS_ASKED(Kind.COUNTER, "keelson_humans_asked_total", "times that something began to wait for a human", "what"),
    LEDGER_ENTRIES(Kind.COUNTER, "keelson_ledger_entries_total", "entries that runs made in the ledger", "kind"),
    CREDITS(Kind.COUNTER, "keelson_credits_total", "credits that those entries moved", "kind"),
    UNPRICED(Kind.COUNTER, "keelson_unpriced_tokens_total",
            "tokens that were charged nothing because neither their model nor the tool has a price"),
    RUNS_OPEN(Kind.GAUGE, "keelson_runs_open", "runs that have not ended, 100,000 at most", "state"),
    RUNS_OLDEST(Kind.GAUGE, "keelson_runs_oldest_seconds",
            "for how long some run has been in that state; 0 without one", "state"),
    RUNS_OLDEST_ACTIVE(Kind.GAUGE, "keelson_runs_oldest_active_seconds",
            "for how long the run that has been at work longest has been; times in which it only waits for people, times,"
                    + " signals or child runs do not count; 0 without one"),
    QUEUE_WAITING(Kind.GAUGE, "keelson_queue_waiting", "work that nobody has claimed, 100,000 at most"),
    QUEUE_LEASED(Kind.GAUGE, "keelson_queue_leased", "work that somebody has claimed, 100,000 at most"),
    QUEUE_AGE(Kind.GAUGE, "keelson_queue_oldest_seconds", "how long the oldest unclaimed work has waited"),
    ESCALATIONS(Kind.GAUGE, "keelson_escalations_open", "escalation tickets that nobody has answered, 100,000 at most"),
    INBOX(Kind.GAUGE, "keelson_inbox_items", "what waits for a person, by kind, 10,000 at most", "kind"),
    INBOX_AGE(Kind.GAUGE, "keelson_inbox_oldest_seconds", "for how long the oldest of them has waited; 0 without one",
            "kind"),
    WEBHOOK_ATTEMPTS(Kind.COUNTER, "keelson_webhook_attempts_total",
            "attempts at deliveries: `delivered`, `failed` (tried again), `dead` (the last one) or `gone` (answered 410)",
            "outcome"),
    WEBHOOK_PENDING(Kind.GAUGE, "keelson_webhook_pending",
            "deliveries that wait at webhooks that are enabled, 100,000 at most"),
    WEBHOOK_AGE(Kind.GAUGE, "keelson_webhook_oldest_seconds",
            "for how long what is next at one of them has waited; 0 where nothing waits"),
    WEBHOOKS_FAILING(Kind.GAUGE, "keelson_webhooks_failing", "webhooks that are enabled and whose last attempt failed"),
    WORKERS(Kind.GAUGE, "keelson_workers", "remote workers heard of within a minute"),
    NODES(Kind.GAUGE, "keelson_nodes", "servers of this database heard of within a minute"),
    RESERVED(Kind.GAUGE, "keelson_credits_reserved", "credits set aside for runs that are open"),
    OUTAGES(Kind.GAUGE, "keelson_outages", "times on record in which no server was alive"),
    BACKLOG_UP(Kind.GAUGE, "keelson_backlog_up",
            "1 where the database told the figures of the whole installation, 0 where it did not"),
    FLUSHES(Kind.COUNTER, "keelson_flushes_total",
            "batches of commands: decided `at_hand`; again or from the start under locks for a view that was `stale`, "
                    + "or for a `poor` workspace; `refused` by the database",
            "way"),
    FLUSH_TIME(Kind.HISTOGRAM, "keelson_flush_duration_seconds", "from a batch's first decision to its commit"),
    FLUSH_SIZE(Kind.HISTOGRAM, "keelson_flush_commands", "commands in a batch"),
    OVERLOADED(Kind.COUNTER, "keelson_commands_overloaded_total",
            "commands turned away because more was submitted than can be committed"),
    EXECUTOR_BUSY(Kind.GAUGE, "keelson_executor_busy", "steps that run on this server"),
    EXECUTOR_SLOTS(Kind.GAUGE, "keelson_executor_slots", "steps that may run on this server at a time"),
    DUTIES(Kind.COUNTER, "keelson_reconciler_looks_total", "times that upkeep looked after what nobody acted upon",
            "duty"),
    MENDED(Kind.COUNTER, "keelson_reconciler_mended_total", "what it found and handed on", "duty"),
    DATABASE_UP(Kind.GAUGE, "keelson_database_up", "1 while the database answers this server's lookout"),
    DATABASE_OUTAGES(Kind.COUNTER, "keelson_database_outages_total", "times that the database stopped answering it"),
    POOL(Kind.GAUGE, "keelson_pool_connections", "connections of a pool, and callers that wait for one", "pool",
            "state"),
    POOL_MOST(Kind.GAUGE, "keelson_pool_connections_most", "connections that a pool may have", "pool"),
    HTTP_REQUESTS(Kind.COUNTER, "keelson_http_requests_total",
            "requests answered; `unmatched` where no route has the path",
            "method", "route", "status"),
    HTTP_TIME(Kind.HISTOGRAM, "keelson_http_request_duration_seconds",
            "from a request's head to the end of its answer; calls that wait on purpose included", "method", "route"),
    HTTP_REFUSALS(Kind.COUNTER, "keelson_http_refusals_total",
            "requests refused, by error code; `REQUEST_LIMIT_REACHED` for the rate limit", "code"),
    MEMORY(Kind.GAUGE, "jvm_memory_used_bytes", "memory in use", "area"),
    MEMORY_MOST(Kind.GAUGE, "jvm_memory_max_bytes", "memory that may be used; -1 for no bound", "area"),
    COLLECTIONS(Kind.COUNTER, "jvm_gc_collections_total", "garbage collections", "gc"),
    COLLECTION_TIME(Kind.COUNTER, "jvm_gc_seconds_total", "time in garbage collections", "gc"),
    THREADS(Kind.GAUGE, "jvm_threads", "platform threads"),
    CPU(Kind.COUNTER, "process_cpu_seconds_total", "processor time that was used"),
    FILES(Kind.GAUGE, "process_open_fds", "open files and connections"),
    STARTED(Kind.GAUGE, "process_start_time_seconds", "when the process began, since 1970"),
    BUILD(Kind.GAUGE, "keelson_build", "always 1", "version");

    /** What Prometheus makes of it. */
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

    /** Its name as it is served, units and suffixes included. */
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

    /** Every name under which a sample of it may stand. */
    public List<String> samples() {
        return kind == Kind.HISTOGRAM
                ? List.of(served + "_bucket", served + "_count", served + "_sum", served + "_max")
                : List.of(served);
    }

    static List<Metric> all() {
        return Arrays.asList(values());
    }
}
