package io.keelson.server.mission.plan;

import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.Undo;
import io.keelson.core.plan.UndoPlan;
import io.keelson.core.plan.Undoes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads {@code undo} of tasks and of their steps, and the original of a stored task of an undo. */
final class UndoReader {
    static final String UNDO = "undo";
    /** Member of stored plans only: the schema of missions does not have it. */
    static final String UNDOES = "undoes";

    private final StepReader steps;
    private final Problems problems;

    UndoReader(StepReader steps, Problems problems) {
        this.steps = steps;
        this.problems = problems;
    }

    /** Reads the calls; null if the task has no undo, and its steps have none. */
    @Nullable Undo read(JsonNode task, String at) {
        List<StepSpec> whole = calls(task.path(UNDO), at + "/" + UNDO);
        Map<String, List<StepSpec>> ofSteps = new LinkedHashMap<>();
        for (int i = 0; i < task.path("steps").size(); i++) {
            JsonNode step = task.path("steps").path(i);
            String pointer = at + "/steps/" + i + "/" + UNDO;
            List<StepSpec> calls = calls(step.path(UNDO), pointer);
            if (!calls.isEmpty()) {
                ofSteps.put(JsonFields.text(step, "name", StepReader.name(i)), calls);
                if (!whole.isEmpty()) {
                    problems.add("INVALID_VALUE", pointer,
                            "the task itself has an undo, which undoes its steps: leave one of them out");
                }
            }
        }
        return whole.isEmpty() && ofSteps.isEmpty() ? null : new Undo(whole, ofSteps);
    }

    private List<StepSpec> calls(JsonNode raw, String at) {
        List<StepSpec> calls = new ArrayList<>();
        if (raw.isObject()) {
            calls.add(call(raw, 0, at));
        }
        for (int i = 0; i < raw.size() && raw.isArray(); i++) {
            calls.add(call(raw.path(i), i, at + "/" + i));
        }
        return calls;
    }

    private StepSpec call(JsonNode raw, int index, String at) {
        StepSpec call = steps.read(raw, index, at);
        if (call.kind() != StepKind.TOOL && call.kind() != StepKind.APPROVAL) {
            problems.add("INVALID_VALUE", at + "/tool",
                    "an undo calls tools and asks for approvals: '" + Pointers.shown(call.tool())
                            + "' cannot be used here");
        }
        if (call.name().equals(UndoPlan.QUESTION)) {
            problems.add("INVALID_VALUE", at + "/name", "the name '" + UndoPlan.QUESTION
                    + "' is that of the question about work whose outcome is unknown");
        }
        return call;
    }

    /** The original of a stored task; null for a task that undoes nothing. */
    static @Nullable Undoes original(JsonNode task) {
        JsonNode raw = task.path(UNDOES);
        String run = JsonFields.text(raw, "run");
        return raw.isObject() ? new Undoes(UUID.fromString(JsonFields.text(raw, "task", "")),
                JsonFields.text(raw, "key", ""), JsonFields.text(raw, "step"),
                run == null ? null : UUID.fromString(run))
                : null;
    }

    /**
     * The pointer to a call as it was written: an only call needs no list.
     *
     * @param document of the mission
     */
    static String asWritten(JsonNode document, String pointer) {
        int at = pointer.indexOf("/" + UNDO + "/0");
        if (at < 0 || !document.at(pointer.substring(0, at + UNDO.length() + 1)).isObject()) {
            return pointer;
        }
        return pointer.substring(0, at + UNDO.length() + 1) + pointer.substring(at + UNDO.length() + 3);
    }
}
