package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.decide.ChangeSet.StepResult;
import io.keelson.core.decide.Metered;
import io.keelson.core.decide.RunRow;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.AgentTerms;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;

/** Counters equal a recount (I8), a result belongs to one lease and one effect (I2), tenancy (I7). */
final class CountLaws {
    private final RunRows rows;

    CountLaws(RunRows rows) {
        this.rows = rows;
    }

    void check() {
        List<Saved.Task> tasks = rows.tasksNow().stream().filter(task -> !task.key().startsWith(".")).toList();
        List<Saved.Step> steps = rows.stepsNow();
        RunRow.Counts recount = new RunRow.Counts(agents(), tasks.size(),
                count(tasks, TaskState.COMPLETED), count(tasks, TaskState.FAILED), count(tasks, TaskState.SKIPPED),
                steps.size(), (int) steps.stream().filter(s -> s.state() == StepState.COMPLETED).count());
        RunRow.Counts c = rows.run.counts();
        RunRow.Counts counted = new RunRow.Counts(c.agents(), c.tasks(), c.tasksCompleted(), c.tasksFailed(),
                c.tasksSkipped(), c.steps(), rows.head.stepsCompleted());
        unless(counted.equals(recount), "I8: %s, a recount gives %s", counted, recount);
        Collection<StepResult> results = rows.calls.values().stream().map(Saved.Call::result).toList();
        Tokens used = Stream.concat(results.stream().map(StepResult::tokens),
                rows.steps.values().stream().flatMap(this::open).map(Metered::tokens))
                .reduce(Tokens.NONE, Tokens::plus);
        unless(used.equals(rows.head.tokens()), "I8: the run has %s, its results %s", rows.head.tokens(), used);
        spent("run", rows.head.tokens().total(), rows.head.cost(), rows.steps.values(), Saved.Step::tokens,
                Saved.Step::cost);
        rows.tasks.values().stream().filter(task -> !task.inUse() && !task.isLoop()).forEach(task -> spent(task.key(),
                task.tokens(), task.cost(), rows.stepsOf(task.id()).toList(), Saved.Step::tokens, Saved.Step::cost));
        rows.tasks.values().stream().filter(Saved.Task::isLoop).forEach(loop -> spent(loop.key(), loop.tokens(),
                loop.cost(), rows.roundsOf(loop).filter(round -> round.state().terminal()).toList(),
                Saved.Task::tokens, Saved.Task::cost));
        rows.steps.values().forEach(this::step);
        rows.queue.values().forEach(place -> unless(
                place.item().workspaceId().equals(rows.accepted.workspaceId()), "I7: %s", place));
    }

    private int agents() {
        return (int) rows.agentsNow().stream().filter(agent -> !".engine".equals(agent.name())).count();
    }

    private static int count(List<Saved.Task> tasks, TaskState state) {
        return (int) tasks.stream().filter(task -> task.state() == state).count();
    }

    private static <T> void spent(String what, long tokens, BigDecimal cost, Collection<T> parts,
            Function<T, Long> tokensOf, Function<T, BigDecimal> costOf) {
        long used = parts.stream().mapToLong(tokensOf::apply).sum();
        BigDecimal paid = parts.stream().map(costOf).reduce(BigDecimal.ZERO, BigDecimal::add);
        unless(tokens == used && cost.compareTo(paid) == 0, "I8: %s has %s tokens, %s credits; its parts %s and %s",
                what, tokens, cost, used, paid);
    }

    private void step(Saved.Step step) {
        List<StepResult> results = resultsOf(step.id());
        long failed = results.stream().filter(result -> result.outcome().equals("failed")).count();
        unless(step.grantedRetries() > 0 ? step.failures() <= failed : step.failures() == failed,
                "%s failures reported: %s", failed, step);
        long lost = results.stream().filter(result -> result.outcome().equals("lost")).count();
        unless(results.size() - failed - lost <= 1, "I2: two results under one effect: %s", results);
        unless(results.stream().allMatch(r -> r.epoch() <= step.leaseEpoch()), "no such lease: %s", results);
        boolean reported = results.size() > failed + lost;
        unless(step.spec().engineOwned() || step.spec().tool().equals(AgentTerms.ASK)
                || reported == (step.state() == StepState.COMPLETED) || !reported && tookOver(step),
                "completed means that a result is recorded: %s %s", step, results);
        spent(step.spec().name(), step.tokens(), step.cost(),
                Stream.concat(results.stream().map(r -> new Metered(r.epoch(), r.tokens(), r.cost())), open(step))
                        .toList(),
                part -> part.tokens().total(), Metered::cost);
        results.stream().filter(r -> step.metered() != null && r.epoch() == step.metered().epoch()).forEach(
                r -> unless(r.cost().compareTo(step.metered().cost()) >= 0, "a result below its heartbeats: %s %s",
                        step, r));
    }

    /** Whether the step has a result of another step, which costs nothing. */
    private boolean tookOver(Saved.Step step) {
        return step.leaseEpoch() == 0 && step.cost().signum() == 0
                && rows.tasks.get(step.taskId()).spec().policy().reuses(step.spec().name());
    }

    /** The use of a lease that has no result yet. */
    private Stream<Metered> open(Saved.Step step) {
        Metered used = step.metered();
        if (used == null || rows.resultOf(step.id(), used.epoch()) != null) {
            return Stream.empty();
        }
        Saved.Place place = rows.queue.get(rows.laneOf(step));
        unless(step.state() == StepState.RUNNING && used.epoch() == step.leaseEpoch() && place != null
                && place.item().holder() != null, "a lease has ended, and no result has its use: %s", step);
        return Stream.of(used);
    }

    private List<StepResult> resultsOf(UUID step) {
        return rows.calls.values().stream().map(Saved.Call::result).filter(result -> result.stepId().equals(step))
                .toList();
    }
}
