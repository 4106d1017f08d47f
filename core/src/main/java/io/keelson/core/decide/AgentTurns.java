package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.ToolPolicy;
import io.keelson.core.plan.TurnLimits;
import io.keelson.core.policy.CallApprovals;
import io.keelson.core.policy.CallGate;
import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TurnAnswer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Handles the tool calls that an agent's turn asks for; a task without steps is agentic. Each call is a step of its own
 * at the turn's position. The next turn follows the last call and sees the results. Calls that the task's terms forbid
 * are refused here and never reach an executor.
 */
final class AgentTurns {
    static final String LIMIT = "CONTINUATION_LIMIT";
    static final String UNREADABLE = "TURN_UNREADABLE";
    static final String REFUSED = "TOOL_NOT_ALLOWED";
    static final String TOKENS = "TOKEN_LIMIT";
    static final String CALLS = "CALL_LIMIT";
    static final String NOT_RECORDED = "CALL_NOT_RECORDED";
    /** The source of data that a task has from outside when it begins. */
    private static final String UNTRUSTED = "untrusted_input";
    /** Proposals of a change of the plan in an attempt of a task, where the task sets no limit. */
    private static final int MAX_PROPOSALS = 3;

    private AgentTurns() {}

    /** The calls that a completed step asks for before its next turn; null when no turn follows it. */
    static @Nullable List<TurnAnswer.Call> calls(StepRow step, Result result) {
        if (step.spec().kind() != StepKind.TURN || result.turn() == null) {
            return null;
        }
        return switch (result.turn()) {
            case TurnAnswer.Calls(List<TurnAnswer.Call> calls) -> calls;
            case TurnAnswer.Again _,TurnAnswer.Compacted _ -> List.of();
            case TurnAnswer.Done _,TurnAnswer.Unreadable _ -> null;
        };
    }

    /** Why a turn's answer is invalid; null when it is valid. */
    static @Nullable StepError unreadable(StepRow step, Result result) {
        if (step.spec().kind() != StepKind.TURN) {
            return null;
        }
        if (result.turn() instanceof TurnAnswer.Unreadable(String why)) {
            return new StepError(UNREADABLE, ErrorClass.QUALITY, why);
        }
        return calls(step, result) != null && step.task().spec().parallelSteps()
                ? new StepError(UNREADABLE, ErrorClass.PERMANENT,
                        "turns of a task whose steps run in parallel can call no tools")
                : null;
    }

    /** The output recorded for a turn; the last turn's output is the task's. */
    static Result yielded(StepRow step, Result result) {
        return step.spec().kind() == StepKind.TURN && result.turn() instanceof TurnAnswer.Done(String output)
                ? result.yielding(output)
                : result;
    }

    /** A turn has ended, and another follows these calls. */
    static void called(Decision d, StepRow turn, List<TurnAnswer.Call> calls, String holder) {
        TaskRow task = turn.task();
        if (!another(d, task)) {
            return;
        }
        int at = task.endOf(turn.position());
        int ordinal = turn.turn();
        boolean beside = calls.size() > 1 && calls.stream().allMatch(call -> onlyReads(task, call));
        int lane = 0;
        for (TurnAnswer.Call call : calls) {
            StepRow step = add(d, task, at++, new StepRow(d.ids.next(), task, new StepSpec(call.tool(), StepKind.CALL,
                    call.tool(), call.input(), call.retry(), call.timeout()), turn.position(), ++ordinal,
                    beside ? ++lane : 0, effect(task, call)));
            StepError refusal = call.refusal() == null ? beyondLimits(task, call.tool()) : call.refusal();
            if (endRefused(d, step, refusal)) {
                if (!AgentMistakes.tolerated(d, step)) {
                    return;
                }
            } else if (call.recorded() != null) {
                if (!answerFromRecord(d, step, call.recorded())) {
                    return;
                }
            } else {
                step.gate = gate(task, call);
            }
        }
        addTurn(d, task, at, turn, ++ordinal);
        TaskProgress.advance(d, task, beside ? null : holder);
    }

    /** True for a call that may run beside others of its turn: it changes nothing, and no person is asked about it. */
    private static boolean onlyReads(TaskRow task, TurnAnswer.Call call) {
        return call.effects() == Effects.READ && gate(task, call) == null;
    }

    /** Why a person is asked about a call, by the rules of the agent that does the task now; null for no reason. */
    static @Nullable CallGate gate(TaskRow task, TurnAnswer.Call call) {
        if (call.tool().equals(AgentTerms.ASK)) {
            return CallGate.question(call.input());
        }
        AgentTerms terms = Rungs.terms(task);
        return (terms == null ? CallApprovals.NONE : terms.approvals()).gate(call.tool(), call.effects(),
                terms == null ? null : outside(task, terms));
    }

    /** The source of data from outside that the task's agent has seen; null if absent. */
    private static @Nullable String outside(TaskRow task, AgentTerms terms) {
        return task.spec().policy().untrusted() ? UNTRUSTED
                : task.steps.stream().filter(step -> step.spec().kind() == StepKind.CALL)
                        .filter(step -> step.state == StepState.COMPLETED || step.state == StepState.FAILED)
                        .map(step -> step.spec().tool()).filter(terms.openWorld()::contains).findFirst().orElse(null);
    }

    /** True for a call that may run beside others of its turn, or that runs beside the step whose program makes it. */
    static boolean isBeside(StepRow step) {
        return step.spec().kind() == StepKind.CALL && step.lane() > 0;
    }

    /** Ends a call as another run has recorded it, without an execution; false if that fails the task. */
    static boolean answerFromRecord(Decision d, StepRow step, TurnAnswer.Recorded recorded) {
        return switch (recorded) {
            case TurnAnswer.Recorded.Output(String json) -> {
                d.changes.output(step, json);
                d.run.stepsCompleted++;
                d.move(step, StepState.COMPLETED, new StepPayload.Completed(null, null));
                yield AgentMistakes.tolerated(d, step);
            }
            case TurnAnswer.Recorded.Failure(StepError error) -> {
                skip(d, step, "call_recorded", error);
                yield AgentMistakes.tolerated(d, step);
            }
            case TurnAnswer.Recorded.Nothing _ -> {
                StepError error = new StepError(NOT_RECORDED, ErrorClass.PERMANENT, "the recorded task has no call of '"
                        + step.spec().tool() + "' with this input");
                skip(d, step, "call_not_recorded", error);
                Propagation.failed(d, step.task(), error);
                yield false;
            }
        };
    }

    /** True when the task may have a further turn; fails it when its turns are used up. */
    static boolean another(Decision d, TaskRow task) {
        boolean left = turnsAreLeft(d, task);
        AgentTerms terms = task.spec().policy().agent();
        long most = terms == null ? 0 : terms.limits().tokens();
        if (left && most > 0 && task.steps.stream().mapToLong(step -> step.tokens).sum() >= most) {
            Propagation.failed(d, task, new StepError(TOKENS, ErrorClass.PERMANENT,
                    "the task wanted a further turn after " + most + " tokens"));
            return false;
        }
        if (!left) {
            Propagation.failed(d, task, new StepError(LIMIT, ErrorClass.PERMANENT,
                    "the task wanted more than " + furtherTurns(d, task) + " further turns"));
        }
        return left;
    }

    /** True when the task's attempt has had fewer further turns than it may have. */
    static boolean turnsAreLeft(Decision d, TaskRow task) {
        long had = task.steps.stream().filter(step -> step.turn() > 1 && step.spec().kind() != StepKind.CALL).count();
        return had < furtherTurns(d, task);
    }

    /** Turns that the task may have after its first. */
    static int furtherTurns(Decision d, TaskRow task) {
        AgentTerms terms = Rungs.terms(task);
        return terms == null || terms.maxTurns() == 0 ? d.run.policy().maxContinuations() : terms.maxTurns() - 1;
    }

    /** Why a call that has just been added exceeds the task's limits; null when it does not. */
    private static @Nullable StepError beyondLimits(TaskRow task, String tool) {
        AgentTerms terms = task.spec().policy().agent();
        TurnLimits limits = terms == null ? TurnLimits.NONE : terms.limits();
        int ofTool = limits.callsByTool().getOrDefault(tool, tool.equals(AgentTerms.PROPOSE) ? MAX_PROPOSALS : 0);
        if (limits.calls() > 0 && calls(task, null) > limits.calls()) {
            return new StepError(CALLS, ErrorClass.PERMANENT,
                    "the task may make " + limits.calls() + " calls, and has made them");
        }
        return ofTool > 0 && calls(task, tool) > ofTool ? new StepError(CALLS, ErrorClass.PERMANENT,
                "the task may call '" + tool + "' " + ofTool + " times, and has done so") : null;
    }

    /** @param tool null for any */
    private static long calls(TaskRow task, @Nullable String tool) {
        return task.steps.stream().filter(step -> step.spec().kind() == StepKind.CALL
                && step.state != StepState.SKIPPED && (tool == null || step.spec().tool().equals(tool))).count();
    }

    /** See {@link StepRow#callEffect}. */
    static String effect(TaskRow task, TurnAnswer.Call call) {
        String content = call.tool() + ":" + call.digest() + "/";
        long before = task.steps.stream().map(StepRow::callEffect)
                .filter(effect -> effect != null && effect.startsWith(content)).count();
        return content + (before + 1);
    }

    /** Another turn at the position of an earlier one. */
    static void addTurn(Decision d, TaskRow task, int at, StepRow earlier, int ordinal) {
        add(d, task, at, new StepRow(d.ids.next(), task, earlier.spec().asPlanned(), earlier.position(), ordinal));
    }

    static StepRow add(Decision d, TaskRow task, int at, StepRow step) {
        task.steps.add(at, step);
        d.view.put(step);
        d.changes.insert(d.run, step);
        d.run.stepCount++;
        return step;
    }

    /**
     * Ends a call of a tool that the task may not use or that its turn's executor refused.
     *
     * @return true if the call was refused
     */
    private static boolean endRefused(Decision d, StepRow step, @Nullable StepError refusal) {
        AgentTerms terms = Rungs.terms(step.task());
        String tool = step.spec().tool();
        ToolPolicy.Level level = terms == null ? ToolPolicy.Level.AGENT : terms.refusedBy(tool);
        if (level == null) {
            if (refusal != null) {
                skip(d, step, "call_refused", refusal);
            }
            return refusal != null;
        }
        List<String> allowed = terms == null ? List.of() : terms.tools();
        String why = level == ToolPolicy.Level.AGENT ? "" : "; a rule of the " + level.wire() + " refuses it";
        skip(d, step, "tool_not_allowed", new StepError(REFUSED, ErrorClass.PERMANENT,
                "'" + tool + "' is none of the tools that this task may use" + why
                        + (allowed.isEmpty() ? "; it may use none" : "; it may use " + String.join(", ", allowed))),
                level);
        return true;
    }

    private static void skip(Decision d, StepRow step, String reason, StepError error) {
        skip(d, step, reason, error, null);
    }

    private static void skip(Decision d, StepRow step, String reason, StepError error,
            ToolPolicy.@Nullable Level refusedBy) {
        step.errorCode = error.code();
        step.errorMessage = error.message();
        step.errorClass = error.errorClass().wire();
        d.move(step, StepState.SKIPPED, new StepPayload.Skipped(reason, step.spec().tool(), error.code(), null,
                refusedBy));
    }
}
