package io.keelson.server.mission.plan;

import io.keelson.core.money.WorstCase;
import io.keelson.core.plan.RunsOn;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.RetryPolicy;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Steps of a plan: the core's form, and the form in which they are stored. */
final class StepReader {
    static final String TURN_TOOL = "agent.turn";
    private static final String APPROVAL_TOOL = "approval";
    private static final String WAIT_TOOL = "wait";
    private static final String SIGNAL_TOOL = "signal.wait";
    private static final String RUN_TOOL = "run.start";
    private static final Duration SERVER_TURN_TIMEOUT = Duration.ofSeconds(300);
    private static final Duration APPROVAL_TIMEOUT = Duration.ofDays(365);

    private final Function<String, Duration> toolTimeout;
    private final Problems problems;

    /** @param toolTimeout how long a call of a tool may take when its step says nothing */
    StepReader(Function<String, Duration> toolTimeout, Problems problems) {
        this.toolTimeout = toolTimeout;
        this.problems = problems;
    }

    StepSpec read(JsonNode raw, int index, String at) {
        StepKind kind = kind(raw);
        return new StepSpec(JsonFields.text(raw, "name", name(index)), kind, tool(raw, kind, at),
                JsonFields.object(raw, "input").toString(), Retries.read(raw.path("retry"), RetryPolicy.STEP),
                JsonFields.seconds(raw, "timeout_seconds", timeout(raw, kind)));
    }

    /** The name of a step that its plan does not name. */
    static String name(int index) {
        return "step-" + (index + 1);
    }

    /**
     * The most tokens of one execution; null when the plan does not say them.
     *
     * @param model where it names none; null if absent
     */
    @Nullable WorstCase worstCase(JsonNode raw, @Nullable String model, String at) {
        if (!raw.isObject()) {
            return null;
        }
        String named = JsonFields.text(raw, "model");
        if (named == null && model == null) {
            problems.add("REQUIRED", at + "/model", "'model' must be given: neither the task nor its agent has one");
        }
        return new WorstCase(named != null ? named : model != null ? model : "",
                raw.path("max_input_tokens").asLong(0), raw.path("max_output_tokens").asLong(0));
    }

    /** A call outside of a task's steps: of a hook or the planner. */
    StepSpec call(JsonNode raw, ObjectNode input, String name, String at) {
        StepKind kind = kind(raw);
        return call(raw, input, name, kind.engineOwned() ? StepKind.TOOL : kind, at);
    }

    /** @param input replaces the input of the call, and may contain more */
    StepSpec call(JsonNode raw, ObjectNode input, String name, StepKind kind, String at) {
        String tool = JsonFields.text(raw, "tool", "");
        if (Set.of(WAIT_TOOL, SIGNAL_TOOL, RUN_TOOL, APPROVAL_TOOL, RunsOn.SERVER.tool()).contains(tool)) {
            problems.add("INVALID_VALUE", at + "/tool", "'" + tool + "' cannot be used here: it calls no tool");
        }
        return new StepSpec(name, kind, tool, input.toString(), Retries.read(raw.path("retry"), RetryPolicy.STEP),
                JsonFields.seconds(raw, "timeout_seconds", toolTimeout.apply(tool)));
    }

    /** The only step of a task without steps: its agent's turn, once in each attempt of the task. */
    StepSpec turn(ObjectNode input, RunsOn runsOn) {
        return new StepSpec("turn", StepKind.TURN, runsOn.tool(), input.toString(), RetryPolicy.NONE,
                runsOn == RunsOn.SERVER ? SERVER_TURN_TIMEOUT : StepSpec.OF_TASK);
    }

    /** The turn of another agent, under a name of its own. */
    StepSpec turn(ObjectNode input, RunsOn runsOn, String name) {
        StepSpec turn = turn(input, runsOn);
        return new StepSpec(name, turn.kind(), turn.tool(), turn.input(), turn.retry(), turn.timeout());
    }

    /** As stored: with name, kind and input even where they were left out. */
    ObjectNode normal(JsonNode raw, StepSpec step) {
        ObjectNode normal = JsonNodeFactory.instance.objectNode();
        normal.put("name", step.name());
        normal.put("kind", said(step.kind()).wire());
        normal.put("tool", step.tool());
        normal.set("input", JsonFields.object(raw, "input"));
        raw.properties().forEach(member -> normal.putIfAbsent(member.getKey(), member.getValue()));
        return normal;
    }

    /** The kind's name in a plan: some kinds are given by their tool. */
    private static StepKind said(StepKind kind) {
        return switch (kind) {
            case WAIT, SIGNAL, RUN -> StepKind.TOOL;
            case TOOL, TURN, APPROVAL, VERIFY, CALL -> kind;
        };
    }

    private static StepKind kind(JsonNode raw) {
        String tool = JsonFields.text(raw, "tool", "");
        return switch (JsonFields.text(raw, "kind", "tool")) {
            case "approval" -> StepKind.APPROVAL;
            case "turn" -> StepKind.TURN;
            case "run" -> StepKind.RUN;
            default -> switch (tool) {
                case WAIT_TOOL -> StepKind.WAIT;
                case SIGNAL_TOOL -> StepKind.SIGNAL;
                case RUN_TOOL -> StepKind.RUN;
                case TURN_TOOL -> StepKind.TURN;
                default -> StepKind.TOOL;
            };
        };
    }

    private String tool(JsonNode raw, StepKind kind, String at) {
        String tool = JsonFields.text(raw, "tool");
        String own = switch (kind) {
            case APPROVAL -> APPROVAL_TOOL;
            case TURN -> TURN_TOOL;
            case WAIT -> WAIT_TOOL;
            case SIGNAL -> SIGNAL_TOOL;
            case RUN -> "run".equals(JsonFields.text(raw, "kind")) ? StepSpec.UNDO_RUN : RUN_TOOL;
            case TOOL, VERIFY, CALL -> null;
        };
        if (tool == null && own == null) {
            if (raw.isObject() && !raw.has("tool")) {
                problems.add("REQUIRED", at + "/tool", "'tool' must be given: only approvals and turns have none");
            }
            return "";
        }
        if (RunsOn.SERVER.tool().equals(tool)) {
            problems.add("INVALID_VALUE", at + "/tool",
                    "'" + tool + "' cannot be used here: a task without steps has an"
                            + " agent, whose turns use it");
        }
        if (tool != null && own != null && !tool.equals(own)) {
            problems.add("INVALID_VALUE", at + "/tool", "a step of kind " + kind.wire() + " has the tool '" + own
                    + "', not '" + Pointers.shown(tool) + "': leave it out");
        }
        return own == null ? Objects.requireNonNull(tool) : own;
    }

    private Duration timeout(JsonNode raw, StepKind kind) {
        return switch (kind) {
            case APPROVAL -> APPROVAL_TIMEOUT;
            case TURN -> StepSpec.OF_TASK;
            case TOOL, WAIT, SIGNAL, RUN, VERIFY, CALL -> toolTimeout.apply(JsonFields.text(raw, "tool", ""));
        };
    }
}
