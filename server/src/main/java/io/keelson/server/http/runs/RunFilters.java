package io.keelson.server.http.runs;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StateType;
import io.keelson.server.http.support.IdKind;
import io.keelson.server.http.support.Query;
import io.keelson.server.run.read.RunSelection;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Filters of runs, as parameters of a list and as members of a body: the same names and bounds. */
final class RunFilters {

    private static final List<String> STATES = Arrays.stream(RunState.values()).map(RunState::wire).toList();
    private static final List<String> TYPES = Arrays.stream(StateType.values()).map(StateType::wire).toList();
    private static final int MAX_TAGS = 10;

    private RunFilters() {}

    /** In a body; at least one member is given. */
    record Given(@Nullable String state, @Nullable String stateType, @Nullable List<String> tags, @Nullable String name,
            @Nullable String text, @Nullable Instant createdAfter, @Nullable Instant createdBefore,
            @Nullable UUID recipeId, @Nullable String trigger, @Nullable String externalId,
            @Nullable String errorCode) {

        RunSelection filter() {
            return new RunSelection(state, stateType, tags == null ? List.of() : tags, name, text, createdAfter,
                    createdBefore, recipeId, trigger,
                    externalId, errorCode, null);
        }
    }

    static RunSelection of(Query query) {
        return new RunSelection(query.word("state", STATES), query.word("state_type", TYPES),
                query.texts("tag", MAX_TAGS), query.text("name"), query.text("text"), query.time("created_after"),
                query.time("created_before"), id(query, "recipe_id", IdKind.RECIPE, "the id of a recipe"),
                query.text("trigger"), query.text("external_id"),
                query.text("error_code"), id(query, "parent_run_id", IdKind.RUN, "a run's id"));
    }

    private static @Nullable UUID id(Query query, String name, IdKind kind, String what) {
        String text = query.text(name);
        UUID id = text == null ? null : kind.parse(text);
        if (text != null && id == null) {
            throw Query.invalid(name, "must be " + what);
        }
        return id;
    }
}
