package io.keelson.server.engine;

import io.keelson.server.db.Database;
import io.keelson.server.expr.Expressions;
import io.keelson.server.expr.References;
import io.keelson.server.run.ScopeReader;
import io.keelson.server.run.ScopeReader.Wanted;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Resolves expressions in a run: reads what they name, and nothing when they name nothing. */
final class Scopes {
    private final Database database;
    private final ScopeReader reader;
    private final Expressions expressions;

    Scopes(Database database, ScopeReader reader, Expressions expressions) {
        this.database = database;
        this.reader = reader;
        this.expressions = expressions;
    }

    /**
     * A JSON text with its expressions resolved.
     *
     * @param task whose steps, upstreams and item are in scope; null for the run's own output
     */
    JsonNode resolve(UUID run, @Nullable UUID task, String template) {
        JsonNode tree = Json.read(template);
        return template.contains("${") ? expressions.resolve(tree, of(run, task, tree)) : tree;
    }

    /** What the template's expressions may look at. */
    JsonNode of(UUID run, @Nullable UUID task, JsonNode template) {
        References named = expressions.references(template);
        Wanted wanted = new Wanted(named.tasks(), named.allTasks(), named.steps(), named.allSteps(),
                named.reach("task", "output"), named.reach("run", "plan"), named.reach("failure"));
        return database.withConnection(c -> reader.scope(c, run, task, wanted));
    }
}
