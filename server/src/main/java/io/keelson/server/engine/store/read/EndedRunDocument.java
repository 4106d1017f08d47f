package io.keelson.server.engine.store.read;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.keelson.core.decide.RunRow;
import io.keelson.core.money.Budget;
import io.keelson.core.run.NewRun;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.EndedRun;
import io.keelson.server.engine.store.sql.JsonbText;
import io.keelson.server.engine.store.sql.TextColumns;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/** The document of a run at its end, as {@link RunReader} would read it, without a query. */
public final class EndedRunDocument {
    /** Longer texts are read each time. */
    private static final int MAX_KEPT = 4_000;
    private static final int MAX_KEPT_TOGETHER = 400_000;
    private static final int COST_SCALE = 12;
    private static final long MICROS_OF_MILLI = 1_000;

    /** Plans and configurations, which many runs have in common, as the database gives them back. */
    private static final LoadingCache<String, JsonNode> KEPT = Caffeine.newBuilder()
            .maximumWeight(MAX_KEPT_TOGETHER).weigher((String text, JsonNode _) -> text.length())
            .executor(Runnable::run).build(EndedRunDocument::read);

    private EndedRunDocument() {}

    /**
     * Empty for a run whose document depends on more than its creation and its end. The document is shared, so it must not be
     * changed.
     */
    public static Optional<ObjectNode> of(NewRun run, EndedRun end) {
        if (run.agentSlug() != null || run.fork() != null || run.policy().undo().undoes() != null) {
            return Optional.empty();
        }
        JsonNode plan = fromDatabase(run.planJson());
        JsonNode inputs = fromDatabase(run.inputsJson());
        JsonNode config = fromDatabase(run.configJson());
        JsonNode tags = fromDatabase(run.tagsJson());
        if (plan.isMissingNode() || inputs.isMissingNode() || config.isMissingNode() || tags.isMissingNode()) {
            return Optional.empty();
        }
        ObjectNode document = Json.object();
        RunRow row = end.row();
        document.put("id", row.id().toString()).put("workspace_id", row.workspaceId().toString())
                .put("name", text(run.name(), 500)).put("description", TextColumns.storable(run.description()))
                .put("goal", TextColumns.storable(run.goal())).put("state", row.state().wire())
                .put("status", row.state().wire()).put("state_type", row.state().type().wire())
                .put("priority", run.priority()).put("trigger", text(run.trigger(), 50));
        document.set("plan", plan);
        document.set("inputs", inputs);
        document.putNull("output");
        document.set("config", config);
        document.set("tags", tags);
        document.putNull("agent_slug").put("external_id", TextColumns.storable(run.externalId()))
                .put("attempt_number", row.attempt()).put("max_attempts", run.policy().maxAttempts())
                .put("plan_version", row.planVersion()).put("replans", row.replans()).put("gate", row.gate().wire());
        nulls(document, "forked_from", "fork_task", "parent_run_id", "parent_step_id");
        document.put("child_count", 0);
        nulls(document, "undo", "undoes");
        document.put("start_at", Json.time(run.startAt()));
        origin(document, run.origin().originJson());
        document.put("open_escalations", 0).putNull("escalation_ticket_id").put("waits_for_humans", 0);
        counts(document, row);
        agents(document.putArray("agent_names"), end.agent());
        money(document, row, run.policy().budget());
        document.put("result_summary", end.summary());
        nulls(document, "error_code", "error_message", "coordinator_agent_id");
        document.put("created_by", text(run.createdBy(), 255));
        times(document, row, end);
        return Optional.of(document.put("version_id", row.version()));
    }

    private static void counts(ObjectNode document, RunRow row) {
        RunRow.Counts counts = row.counts();
        document.put("task_count", counts.tasks()).put("tasks_completed", counts.tasksCompleted())
                .put("tasks_failed", counts.tasksFailed()).put("tasks_skipped", counts.tasksSkipped())
                .put("failures", row.failures()).put("steps_total", counts.steps())
                .put("steps_completed", counts.stepsCompleted()).put("agent_count", counts.agents());
    }

    /** The engine's own agents have no name for readers. */
    private static void agents(ArrayNode names, @Nullable String name) {
        if (name != null && !name.startsWith(".")) {
            names.add(TextColumns.clip(name, 255));
        }
    }

    private static void money(ObjectNode document, RunRow row, Budget budget) {
        BigDecimal charged = row.chargedBefore().add(row.charged());
        document.put("credits_reserved", Json.plain(row.chargedBefore().add(row.refunded()).add(row.reserved())))
                .put("credits_charged", Json.plain(charged)).put("credits_refunded", Json.plain(row.refunded()))
                .put("credits_uncollected", cost(row.uncollected()))
                .put("hard_limit_usd", limit(row.hardLimit(), budget.hardLimit()))
                .put("soft_limit_usd", limit(row.softLimit(), budget.softLimit()));
        document.putArray("task_budgets");
        document.put("total_tokens", row.tokens().total());
        if (row.tokens().none()) {
            document.putNull("usage");
        } else {
            document.set("usage", read(Json.tree(row.tokens().members()).toString()));
        }
        document.put("total_cost", cost(row.cost()));
    }

    private static BigDecimal cost(BigDecimal amount) {
        return Json.plain(amount.setScale(COST_SCALE, RoundingMode.HALF_UP));
    }

    private static @Nullable BigDecimal limit(@Nullable BigDecimal own, @Nullable BigDecimal ofPolicy) {
        BigDecimal limit = own == null ? ofPolicy : own;
        return limit == null ? null : Json.plain(limit);
    }

    private static void times(ObjectNode document, RunRow row, EndedRun end) {
        document.put("created_at", Json.time(end.createdAt())).put("updated_at", Json.time(end.endedAt()))
                .put("started_at", Json.time(row.startedAt())).put("completed_at", Json.time(row.completedAt()))
                .putNull("cancelled_at");
        Instant completed = Objects.requireNonNull(row.completedAt());
        Duration taken = Duration.between(row.startedAt() == null ? completed : row.startedAt(), completed);
        long micros = Math.max(0, taken.dividedBy(Duration.ofNanos(1_000)));
        document.put("duration_ms", (micros + MICROS_OF_MILLI / 2) / MICROS_OF_MILLI - row.ended().toMillis())
                .put("ended_ms", row.ended().toMillis());
        if (row.activeSince() == null) {
            document.put("active_ms", row.active().toMillis());
        } else {
            document.putNull("active_ms");
        }
        document.putNull("last_heartbeat_at");
    }

    private static void origin(ObjectNode document, @Nullable String json) {
        JsonNode origin = json == null ? MissingNode.getInstance() : Json.read(json);
        document.put("recipe_id", origin.path("recipe_id").stringValue(null));
        if (origin.has("recipe_version")) {
            document.put("recipe_version", origin.get("recipe_version").intValue());
        } else {
            document.putNull("recipe_version");
        }
        document.put("schedule_id", origin.path("schedule_id").stringValue(null))
                .put("scheduled_for", origin.path("scheduled_for").stringValue(null));
    }

    private static void nulls(ObjectNode document, String... names) {
        for (String name : names) {
            document.putNull(name);
        }
    }

    private static @Nullable String text(String text, int most) {
        return TextColumns.clip(TextColumns.storable(text), most);
    }

    private static JsonNode fromDatabase(String json) {
        return json.length() > MAX_KEPT ? read(json) : KEPT.get(json);
    }

    /** A missing node for a text that only the database can give back. */
    private static JsonNode read(String json) {
        String stored = JsonbText.of(json);
        return stored == null ? MissingNode.getInstance() : Json.read(stored);
    }
}
