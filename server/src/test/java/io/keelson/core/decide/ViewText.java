package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.policy.FailureMode;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import tools.jackson.databind.json.JsonMapper;

/**
 * A view as text, everything in it that a decision can see, so that two views can be compared. Left out is what may
 * differ without consequence: the plan, the cursor over finished steps, texts that no decision reads, admission while
 * the run does not run, and slots once it has ended.
 */
public final class ViewText {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final RunView view;
    private final Instant now;
    /** Whether a task may get another row in its place. */
    private final boolean again;
    private final boolean live;
    private final boolean running;
    private final StringBuilder out = new StringBuilder();

    private ViewText(RunView view, Instant now) {
        this.view = view;
        this.now = now;
        this.again = view.run.policy().failures().agent() == FailureMode.RETRY;
        this.live = !view.run.state.terminal();
        this.running = view.run.state == RunState.RUNNING;
    }

    /** @param now the time at which recent calls are counted */
    public static String of(RunView view, Instant now) {
        ViewText text = new ViewText(view, now);
        text.run();
        view.budgets.values().forEach(text::budget);
        view.agents.forEach(text::agent);
        view.tasks.values().stream().sorted(Comparator.comparing(TaskRow::key)).forEach(text::task);
        view.steps.values().stream().sorted(Comparator.comparing(StepRow::id)).forEach(text::step);
        return text.out.toString();
    }

    private void budget(TaskBudgetRow budget) {
        line("budget", budget.task(), budget.limit(), budget.charged(), budget.exceeded());
    }

    private void run() {
        RunRow r = view.run;
        line("run", r.id(), r.workspaceId(), r.name(), r.priority(), r.policy(), r.outputTemplate(), r.state, r.attempt,
                r.effectGeneration, r.version, r.seq, r.failing, r.counts(), r.tokens, r.cost.stripTrailingZeros(),
                r.startedAt, r.completedAt, r.errorCode, r.errorMessage);
        line(" policy", r.planVersion, r.replans, r.gate, r.stateSince, r.active, r.activeSince, r.quietSince);
        line(" credits", r.reserved, r.charged, r.remainder, r.uncollected, r.chargedBefore, r.refunded, r.hardLimit,
                r.softLimit, r.budgetWarned, r.turnModel, r.ended, r.begunAt);
        line(" outages", view.outages);
        line(" artifacts", new TreeMap<>(view.artifacts));
        if (live) {
            line(" open", view.tasksOpen, view.evaluatingOutput, view.evaluatingPlan, view.watchDue, view.startDue);
            line(" begun", view.tasksBegun, view.tasksWaiting, r.currentTask, key(view.beforeHook),
                    key(view.afterHook));
            if (view.run.policy().failures().escalation().enabled()) {
                line(" calls", view.calls.calls(now), view.calls.errors(now));
            }
            view.tickets.values().stream().sorted(Comparator.comparing(TicketRow::id)).forEach(this::ticket);
        }
        if (live) {
            line(" at work", view.agentsAtWork);
        }
        if (running) {
            line(" waiting", view.waitingAgents.stream().filter(a -> !ready(a).isEmpty()).map(AgentRow::number).sorted()
                    .toList());
        }
    }

    private void ticket(TicketRow t) {
        line(" ticket", t.id(), t.kind(), t.attempt(), t.taskId(), t.stepId(), t.severity, t.reason(), t.errorCode(),
                t.message(), t.openedAt(), t.resolution, t.resolvedBy, t.comment, t.resolvedAt);
    }

    private void agent(AgentRow a) {
        line("agent", a.id(), a.number(), a.name(), a.state, a.startedAt, a.completedAt, a.tasks);
        line(" policy", a.attempt, a.failing, a.failureIgnored, a.nextRunAt, a.begunAt);
        if (live) {
            line(" open", a.tasksOpen, a.tasksFailed, a.tasksSkipped, a.tasksCancelled, a.slotsTaken);
            line(" ready", ready(a));
        }
    }

    /** A task cancelled while it waits leaves the queue later. */
    private static List<String> ready(AgentRow a) {
        return a.ready.stream().filter(t -> t.state == TaskState.QUEUED).sorted(TaskRow.BY_TURN).map(TaskRow::key)
                .toList();
    }

    private void task(TaskRow t) {
        line("task", t.key(), t.id(), t.sequence(), t.agent().number(), t.group() == null ? null : t.group().key(),
                t.itemIndex(), json(t.item()), t.state, t.attempt, t.continuations, t.tokens,
                t.cost.stripTrailingZeros(), t.queuedAt, t.startedAt, t.completedAt, t.errorCode, t.errorMessage,
                t.reusedFrom);
        line(" policy", t.failures, t.grantedRetries, t.effectGeneration, t.failureIgnored, t.superseded, t.nextRunAt,
                t.stateSince, t.askedAt, t.begunAt, t.errorClass, score(t.verifierScore), t.verifiedBy);
        spec(t.spec());
        if (again && t.group() == null) {
            line(" another would be", t.spec().title(), t.spec().description(), t.spec().successCriteria(),
                    t.spec().dependsOn().stream().filter(each -> keys(t.upstreams).contains(each.task()))
                            .map(Dependency::toString).sorted().toList());
        }
        if (t.isGroup()) {
            line(" children will be", t.spec().title(), t.spec().description(), t.spec().successCriteria());
            t.spec().steps().forEach(step -> spec(step, true));
        }
        line(" steps", t.steps.stream().map(StepRow::id).toList());
        line(" up", keys(t.upstreams).stream().sorted().toList(), " down", keys(t.downstreams), " children",
                keys(t.children));
        if (live) {
            line(" open", t.upstreamsOpen, t.upstreamsCompleted, t.upstreamsFailed, t.childrenOpen,
                    t.hasSlot && !t.terminal(), t.evaluating, t.waits && !t.terminal());
        }
    }

    private static String key(TaskRow task) {
        return task == null ? "-" : task.key();
    }

    private static Object score(BigDecimal score) {
        return score == null ? "-" : score.stripTrailingZeros();
    }

    private static List<String> keys(List<TaskRow> tasks) {
        return new ArrayList<>(tasks.stream().map(TaskRow::key).toList());
    }

    private void spec(TaskSpec s) {
        line(" spec", s.id(), s.taskType(), s.triggerRule(), s.when(), s.forEach(), s.output(), s.parallelSteps(),
                s.agent(), s.policy());
    }

    private void spec(StepSpec s, boolean input) {
        line(" spec", s.name(), s.kind(), s.tool(), input ? json(s.input()) : "", s.retry(), s.timeout());
    }

    private void step(StepRow s) {
        line("step", s.id(), s.task().key(), s.name(), s.callEffect(), s.caller(), s.callResult(), s.gate(),
                s.position(), s.turn(),
                s.lane(), s.state, s.attempt, s.failures, s.deliveries, s.leaseEpoch, s.resultEpoch, s.tokens,
                s.cost.stripTrailingZeros(), s.nextRunAt, s.startedAt, s.completedAt, s.errorCode, s.errorMessage,
                s.errorClass, s.taskAttempt(), s.grantedRetries, s.failureIgnored, s.call);
        spec(s.spec(), again || !s.task().terminal());
        if (live) {
            line(" work", s.queued, s.holder, s.evaluating, s.hold, s.kept, s.metered,
                    s.requests().stream().sorted(Comparator.comparing(OpenRequest::id)).toList());
        }
    }

    private static Object json(String text) {
        return text == null ? "-" : JSON.readTree(text);
    }

    private void line(Object... parts) {
        for (Object part : parts) {
            out.append(part).append(' ');
        }
        out.append('\n');
    }
}
