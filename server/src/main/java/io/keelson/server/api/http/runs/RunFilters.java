package io.keelson.server.api.http.runs;

import io.keelson.api.Absent;
import io.keelson.api.run.RunFilter;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.engine.store.read.RunSelection;
import java.util.List;

/** Filters of runs, as parameters of a list and as members of a body: the same names and bounds. */
final class RunFilters {

    private RunFilters() {}

    /** In a body; at least one member is given. */
    /** @param given in a body, with at least one member */
    static RunSelection of(RunFilter given) {
        return new RunSelection(given.state() == null ? List.of() : List.of(given.state()), given.stateType(),
                Absent.asEmpty(given.tags()), given.name(), given.text(), given.createdAfter(), given.createdBefore(),
                given.recipeId(), given.trigger(), given.externalId(), given.errorCode(), null,
                Absent.asEmpty(given.ids()));
    }

    static RunSelection of(Query query) {
        return new RunSelection(query.texts("state"), query.text("state_type"), query.texts("tag"), query.text("name"),
                query.text("text"), query.time("created_after"), query.time("created_before"), query.id("recipe_id"),
                query.text("trigger"), query.text("external_id"), query.text("error_code"), query.id("parent_run_id"));
    }
}
