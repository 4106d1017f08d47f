package io.keelson.server.api.http.inbox;

import io.keelson.core.run.Command.DecideGate.Gate;
import io.keelson.server.tenant.auth.Scope;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Kinds of inbox items. Each has its own ids, so that an answer never reaches another question. */
public enum InboxKind {
    /** A run's plan ({@code awaiting_approval}). */
    PLAN_APPROVAL("plan_"),
    /** A run's result, where its config says {@code acceptance: human}. */
    RESULT_ACCEPTANCE("result_"),
    /** A step of the kind {@code approval}. */
    APPROVAL_STEP("step_"),
    /** A call of an agent that waits for a person. */
    CALL_APPROVAL("call_"),
    /** A question of an agent. */
    QUESTION("ask_"),
    /** A task's output ({@code awaiting_human}). */
    TASK_REVIEW("task_"),
    /** A ticket of the failure policy. */
    ESCALATION("esc_"),
    /** A run that its budget has stopped. */
    BUDGET("budget_"),
    /** A proposal of a step; nothing waits for the answer. */
    PROPOSAL("prop_"),
    /** A question of an MCP server's tool. */
    ELICITATION("elic_"),
    /** A tool of an MCP server that its server describes otherwise than accepted. */
    TOOL_CHANGE("tool_"),
    /** Events of a trigger that were given up. */
    DEAD_LETTER("dead_");

    private final String wire = name().toLowerCase(Locale.ROOT);
    private final String prefix;

    InboxKind(String prefix) {
        this.prefix = prefix;
    }

    public String wire() {
        return wire;
    }

    String prefix() {
        return prefix;
    }

    /** The part of the run that the question is about, as a run may ask it more than once. Null for kinds whose subject identifies the question. */
    @Nullable Gate gate() {
        return switch (this) {
            case PLAN_APPROVAL -> Gate.PLAN;
            case RESULT_ACCEPTANCE -> Gate.RESULT;
            case BUDGET -> Gate.BUDGET;
            case APPROVAL_STEP, CALL_APPROVAL, QUESTION, TASK_REVIEW, ESCALATION, PROPOSAL, ELICITATION, TOOL_CHANGE,
                    DEAD_LETTER ->
                null;
        };
    }

    /** The scope that an answer takes. */
    Scope scope() {
        return switch (this) {
            case TOOL_CHANGE -> Scope.ADMIN;
            case DEAD_LETTER -> Scope.RUNS_WRITE;
            case PLAN_APPROVAL, RESULT_ACCEPTANCE, APPROVAL_STEP, CALL_APPROVAL, QUESTION, TASK_REVIEW, ESCALATION,
                    BUDGET, PROPOSAL, ELICITATION ->
                Scope.APPROVE;
        };
    }

    /** The kind of that text. */
    public static InboxKind of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }

    /** All as texts. */
    public static List<String> words() {
        return Arrays.stream(values()).map(InboxKind::wire).toList();
    }
}
