package io.keelson.server.api.http.runs;

import io.keelson.server.api.http.support.Query;
import io.keelson.server.engine.store.read.RunSelection;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Filters of runs, as parameters of a list and as members of a body: the same names and bounds. */
final class RunFilters {

    private RunFilters() {}

    /** In a body; at least one member is given. */
    record Given(@Nullable String state, @Nullable String stateType, @Nullable List<String> tags, @Nullable String name,
            @Nullable String text, @Nullable Instant createdAfter, @Nullable Instant createdBefore,
            @Nullable UUID recipeId, @Nullable String trigger, @Nullable String externalId,
            @Nullable String errorCode, @Nullable List<UUID> ids) {

        RunSelection filter() {
            return new RunSelection(state == null ? List.of() : List.of(state), stateType,
                    tags == null ? List.of() : tags, name, text, createdAfter, createdBefore, recipeId, trigger,
                    externalId, errorCode, null, ids == null ? List.of() : ids);
        }
    }

    static RunSelection of(Query query) {
        return new RunSelection(query.texts("state"), query.text("state_type"), query.texts("tag"), query.text("name"),
                query.text("text"), query.time("created_after"), query.time("created_before"), query.id("recipe_id"),
                query.text("trigger"), query.text("external_id"), query.text("error_code"), query.id("parent_run_id"));
    }
}
