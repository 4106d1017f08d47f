package io.keelson.server.engine.store.read;

import io.keelson.core.lifecycle.RunState;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Selects runs of a workspace that match all given values. Null matches any.
 *
 * @param states accepted states; empty for any
 * @param tags required tags
 * @param name the whole name
 * @param text part of name or goal, ignoring case
 * @param createdAfter inclusive
 * @param createdBefore exclusive
 * @param recipe the recipe of the run's mission
 * @param parent the parent run
 * @param ids accepted ids; empty for any
 */
public record RunSelection(List<String> states, @Nullable String stateType, List<String> tags, @Nullable String name,
        @Nullable String text, @Nullable Instant createdAfter, @Nullable Instant createdBefore, @Nullable UUID recipe,
        @Nullable String trigger, @Nullable String externalId, @Nullable String errorCode,
        @Nullable UUID parent, List<UUID> ids) {

    private static final String OF_PARENT =
            "r.id in (select p.run_id from run_parents p where p.parent_run_id = ?)";

    private static final List<String> OPEN =
            Stream.of(RunState.values()).filter(state -> !state.terminal()).map(RunState::wire).toList();

    public static final RunSelection ALL =
            new RunSelection(List.of(), null, List.of(), null, null, null, null, null, null, null, null, null,
                    List.of());

    /** One condition and the value of its only parameter. */
    private record Condition(String sql, Object value) {}

    public RunSelection {
        states = List.copyOf(states);
        tags = List.copyOf(tags);
        ids = List.copyOf(ids);
    }

    /** Without ids. */
    public RunSelection(List<String> states, @Nullable String stateType, List<String> tags, @Nullable String name,
            @Nullable String text, @Nullable Instant createdAfter, @Nullable Instant createdBefore,
            @Nullable UUID recipe, @Nullable String trigger, @Nullable String externalId, @Nullable String errorCode,
            @Nullable UUID parent) {
        this(states, stateType, tags, name, text, createdAfter, createdBefore, recipe, trigger, externalId, errorCode,
                parent, List.of());
    }

    /** Restricts the selection to runs that have not ended. */
    public RunSelection open() {
        return states.isEmpty()
                ? new RunSelection(OPEN, stateType, tags, name, text, createdAfter, createdBefore, recipe,
                        trigger, externalId, errorCode, parent)
                : this;
    }

    /** Conditions on a run {@code r}, each with {@code and} before it; their parameters are bound by {@link #bind}. */
    String sql() {
        StringBuilder sql = new StringBuilder();
        conditions().forEach(each -> sql.append("\n   and ").append(each.sql));
        if (!states.isEmpty() && List.of("failed", "cancelled", "skipped").containsAll(states)) {
            sql.append("\n   and r.state_type = 'terminal' and r.state <> 'completed'"); // the predicate of an index
        }
        return sql.toString();
    }

    /** {@link #sql} for a row of {@code archived_runs}. */
    String sqlOfArchived() {
        return sql().replace(OF_PARENT, "r.parent_run_id = ?");
    }

    /**
     * Binds the parameters of {@link #sql}.
     *
     * @param first the position of the first
     * @return the next position
     */
    int bind(PreparedStatement statement, int first) throws SQLException {
        int p = first;
        for (Condition each : conditions()) {
            statement.setObject(p++, each.value);
        }
        return p;
    }

    private List<Condition> conditions() {
        List<Condition> all = new ArrayList<>();
        add(all, OF_PARENT, parent);
        if (!ids.isEmpty()) {
            add(all, "r.id = any (?::uuid[])", ids.stream().map(UUID::toString).toArray(String[]::new));
        }
        add(all, "r.external_id = ?", externalId);
        if (states.size() == 1) {
            add(all, "r.state = ?", states.getFirst());
        } else if (!states.isEmpty()) {
            add(all, "r.state = any (?)", states.toArray(String[]::new));
        }
        add(all, "r.state_type = ?", stateType);
        add(all, "r.created_at >= ?", createdAfter == null ? null : createdAfter.atOffset(ZoneOffset.UTC));
        add(all, "r.created_at < ?", createdBefore == null ? null : createdBefore.atOffset(ZoneOffset.UTC));
        add(all, "r.error_code = ?", errorCode);
        add(all, "r.trigger = ?", trigger);
        add(all, "r.title = ?", name);
        tags.forEach(tag -> add(all, "r.tags @> jsonb_build_array(?::text)", tag));
        add(all, "r.origin ->> 'recipe_id' = ?", recipe == null ? null : recipe.toString());
        add(all, "position(lower(?) in lower(r.title || ' ' || r.goal)) > 0", text);
        return all;
    }

    private static void add(List<Condition> all, String sql, @Nullable Object value) {
        if (value != null) {
            all.add(new Condition(sql, value));
        }
    }
}
