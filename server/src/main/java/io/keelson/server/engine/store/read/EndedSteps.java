package io.keelson.server.engine.store.read;

import io.keelson.core.lifecycle.StepState;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.sql.JsonbText;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Completed steps of one task whose ends may not be in the database yet, with their outputs. Used by one thread at a time. */
public final class EndedSteps {
    private static final class Output {
        private final String json;
        private @Nullable String stored;

        private Output(String json) {
            this.json = json;
        }

        /** As the database gives it back; null if it may refuse the output. */
        private @Nullable String storedText() {
            if (stored == null) {
                stored = JsonbText.of(json);
            }
            return stored;
        }
    }

    /** By name, in the order of their positions. */
    private final Map<String, Output> outputs = new LinkedHashMap<>();
    /** The step at work behind them; null if absent. */
    private @Nullable String atWork;

    /** @param json the output as reported */
    public void add(String name, String json) {
        outputs.put(name, new Output(json));
    }

    /** The step of that name is at work now. */
    public void next(String name) {
        atWork = name;
    }

    public boolean isEmpty() {
        return outputs.isEmpty();
    }

    public boolean containsAll(Collection<String> names) {
        return outputs.keySet().containsAll(names);
    }

    /** False when the database may refuse the output of one of those with these names. */
    public boolean storable(Collection<String> names, boolean all) {
        return outputs.entrySet().stream().filter(each -> all || names.contains(each.getKey()))
                .allMatch(each -> each.getValue().storedText() != null);
    }

    /** The state of a step, which the database may not have yet. */
    String state(String name, String stored) {
        return outputs.containsKey(name) ? StepState.COMPLETED.wire()
                : name.equals(atWork) ? StepState.RUNNING.wire() : stored;
    }

    /** The output as the database gives it back; null for a step that is not here. */
    @Nullable String output(String name) {
        Output found = outputs.get(name);
        return found == null ? null : found.storedText();
    }

    /**
     * The part {@code .steps} of a scope.
     *
     * @param names of steps that are here
     */
    public ObjectNode scope(Collection<String> names) {
        ObjectNode steps = Json.object();
        OutputTrees trees = new OutputTrees();
        outputs.forEach((name, output) -> {
            if (names.contains(name)) {
                steps.putObject(name).put("state", StepState.COMPLETED.wire()).set("output",
                        trees.next(output.storedText()));
            }
        });
        return steps;
    }
}
