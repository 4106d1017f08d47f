package io.keelson.server.http;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StateType;
import io.keelson.server.run.RunFilter;
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

    static RunFilter of(Query query) {
        return new RunFilter(query.word("state", STATES), query.word("state_type", TYPES),
                query.texts("tag", MAX_TAGS), query.text("name"), query.text("text"), query.time("created_after"),
                query.time("created_before"), recipe(query), query.text("trigger"), query.text("external_id"),
                query.text("error_code"));
    }

    private static @Nullable UUID recipe(Query query) {
        String text = query.text("recipe_id");
        UUID id = text == null ? null : IdKind.RECIPE.parse(text);
        if (text != null && id == null) {
            throw Query.invalid("recipe_id", "must be the id of a recipe");
        }
        return id;
    }

    /** Of the member {@code filter}, which must say something. */
    static RunFilter of(Fields body) {
        Fields given = body.object("filter");
        if (given == null) {
            body.problem("REQUIRED", "filter", "'filter' must say which runs are meant");
            return RunFilter.ALL;
        }
        String recipe = given.optionalText("recipe_id", MAX_TEXT);
        UUID recipeId = recipe == null ? null : IdKind.RECIPE.parse(recipe);
        if (recipe != null && recipeId == null) {
            given.problem("INVALID_VALUE", "recipe_id", "'recipe_id' must be the id of a recipe");
        }
        RunFilter filter = new RunFilter(given.optionalWord("state", STATES), given.optionalWord("state_type", TYPES),
                given.optionalTexts("tags", MAX_TAGS, MAX_TEXT), given.optionalText("name", MAX_TEXT),
                given.optionalText("text", MAX_TEXT), given.optionalTime("created_after"),
                given.optionalTime("created_before"), recipeId, given.optionalText("trigger", MAX_TEXT),
                given.optionalText("external_id", MAX_TEXT), given.optionalText("error_code", MAX_TEXT));
        if (filter.equals(RunFilter.ALL)) {
            body.problem("EMPTY", "filter", "'filter' must say which runs are meant");
        }
        return filter;
    }
}
