package io.keelson.server.http.runs;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StateType;
import io.keelson.server.http.support.Fields;
import io.keelson.server.http.support.IdKind;
import io.keelson.server.http.support.Query;
import io.keelson.server.run.read.RunSelection;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Filters of runs, as parameters of a list and as members of a body: the same names and bounds. */
final class RunFilters {

    private static final List<String> STATES = Arrays.stream(RunState.values()).map(RunState::wire).toList();
    private static final List<String> TYPES = Arrays.stream(StateType.values()).map(StateType::wire).toList();
    private static final int MAX_TAGS = 10;
    private static final int MAX_TEXT = 500;

    private RunFilters() {}

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

    /** Of the member {@code filter}, which must say something. */
    static RunSelection of(Fields body) {
        Fields given = body.object("filter");
        if (given == null) {
            body.problem("REQUIRED", "filter", "'filter' must have at least one condition");
            return RunSelection.ALL;
        }
        RunSelection filter = new RunSelection(given.optionalWord("state", STATES),
                given.optionalWord("state_type", TYPES),
                given.optionalTexts("tags", MAX_TAGS, MAX_TEXT), given.optionalText("name", MAX_TEXT),
                given.optionalText("text", MAX_TEXT), given.optionalTime("created_after"),
                given.optionalTime("created_before"), id(given, "recipe_id", IdKind.RECIPE, "the id of a recipe"),
                given.optionalText("trigger", MAX_TEXT),
                given.optionalText("external_id", MAX_TEXT), given.optionalText("error_code", MAX_TEXT), null);
        if (filter.equals(RunSelection.ALL)) {
            body.problem("EMPTY", "filter", "'filter' must have at least one condition");
        }
        return filter;
    }

    private static @Nullable UUID id(Fields given, String name, IdKind kind, String what) {
        String text = given.optionalText(name, MAX_TEXT);
        UUID id = text == null ? null : kind.parse(text);
        if (text != null && id == null) {
            given.problem("INVALID_VALUE", name, "'" + name + "' must be " + what);
        }
        return id;
    }
}
