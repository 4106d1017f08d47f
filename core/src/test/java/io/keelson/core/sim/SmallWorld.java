package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.ChangeSet.Timer;
import io.keelson.core.decide.Created;
import io.keelson.core.decide.Decider;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.StepRow;
import io.keelson.core.decide.UndoRow;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Funds;
import io.keelson.core.money.Prices;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.FailureRules;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.Repeat;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.plan.UndoPlan;
import io.keelson.core.plan.UndoRules;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Command.Resolution;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.Ids;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepAssignment;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One run of three tasks, two workers, and how much of each mishap is left: a state of the exploration. Never changed;
 * every action makes another. Times are left out of what tells states apart: which timer rings first is a choice.
 */
final class SmallWorld {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final RetryPolicy ONCE = new RetryPolicy(1, 1, Duration.ZERO, Duration.ZERO, 1, 0);
    private static final FailureRules RULES = new FailureRules(FailureMode.FAIL_FAST, FailureMode.FAIL_FAST, ONCE, ONCE,
            EscalationPolicy.OFF, null, 0, false, false);
    /** The child run that the undo has undone. */
    private static final UUID CHILD = new UUID(4, 1);
    private static final List<String> WORKERS = List.of("w1", "w2");

    /**
     * Each may happen so many times.
     *
     * @param questions of another server to a person, the repeated ones included
     * @param resumes answers to tickets of an undo that try the work again
     */
    record Mishaps(int crashes, int freezes, int lostAnswers, int pauses, int cancels, int questions, int resumes) {
        /** One of each, but for questions and answers to tickets. */
        static final Mishaps ALL = new Mishaps(1, 1, 1, 1, 1, 0);

        Mishaps(int crashes, int freezes, int lostAnswers, int pauses, int cancels, int questions) {
            this(crashes, freezes, lostAnswers, pauses, cancels, questions, 0);
        }

        private Mishaps crash() {
            return new Mishaps(crashes - 1, freezes, lostAnswers, pauses, cancels, questions, resumes);
        }

        private Mishaps freeze() {
            return new Mishaps(crashes, freezes - 1, lostAnswers, pauses, cancels, questions, resumes);
        }

        private Mishaps loseAnswer() {
            return new Mishaps(crashes, freezes, lostAnswers - 1, pauses, cancels, questions, resumes);
        }

        private Mishaps pause() {
            return new Mishaps(crashes, freezes, lostAnswers, pauses - 1, cancels, questions, resumes);
        }

        private Mishaps cancel() {
            return new Mishaps(crashes, freezes, lostAnswers, pauses, cancels - 1, questions, resumes);
        }

        private Mishaps ask() {
            return new Mishaps(crashes, freezes, lostAnswers, pauses, cancels, questions - 1, resumes);
        }

        private Mishaps resume() {
            return new Mishaps(crashes, freezes, lostAnswers, pauses, cancels, questions, resumes - 1);
        }
    }

    /** What may happen next, and to what it leads. */
    record Move(String label, SmallWorld to) {}

    final RunRows rows;
    /** The run that it undoes, as it was at first; null for any other run. */
    private final @Nullable RunRows original;
    /** What workers believe to hold, true or not. */
    private final Map<String, Held> beliefs;
    private final Mishaps left;

    private SmallWorld(RunRows rows, @Nullable RunRows original, Map<String, Held> beliefs, Mishaps left) {
        this.rows = rows;
        this.original = original;
        this.beliefs = beliefs;
        this.left = left;
    }

    /** The worlds in which the run begins: created alone, or with the report of a step that a worker has executed before. */
    static List<SmallWorld> started(Mishaps mishaps) {
        return List.of(created(plan(), mishaps, false), created(plan(), mishaps, true));
    }

    /** The world of a task of three rounds at most, of which the last ended one is kept. */
    static List<SmallWorld> repeating(Mishaps mishaps) {
        TaskSpec once = task("b", List.of(), TriggerRule.ALL_SUCCESS, null, StepKind.TOOL);
        Repeat rounds = new Repeat("${ . }", 3, Duration.ofSeconds(1), null, 1);
        return List.of(created(new Plan(1, List.of(once.with(once.policy().repeated(rounds)))), mishaps, false));
    }

    /** The world of a group of two tasks, the second one after the first, in two rounds at most, and of a task after the group. */
    static List<SmallWorld> repeatingGroup(Mishaps mishaps) {
        Repeat rounds = new Repeat("${ . }", 2, Duration.ofSeconds(1), null, 1).of(List.of("x", "y"));
        TaskSpec group = task("g", List.of(), TriggerRule.ALL_SUCCESS, null);
        return List.of(created(new Plan(1, List.of(group.with(group.policy().repeated(rounds)),
                task("g.x", List.of(), TriggerRule.ALL_SUCCESS, null, StepKind.TOOL),
                task("g.y", List.of(new Dependency("g.x", true)), TriggerRule.ALL_SUCCESS, null, StepKind.TOOL),
                task("h", List.of(new Dependency("g", true)), TriggerRule.ALL_SUCCESS, null, StepKind.TOOL))), mishaps,
                false));
    }

    /** @param executed whether the first commit has the report of the first step, while the worker executes the second one */
    private static SmallWorld created(Plan plan, Mishaps mishaps, boolean executed) {
        NewRun run = run(new UUID(0, 1), plan, RULES, UndoRules.NONE);
        ChangeSet changes = new ChangeSet();
        String worker = WORKERS.getFirst();
        LocalCapacity capacity = executed ? new LocalCapacity(worker, tool -> true, LEASE, 1) : LocalCapacity.none();
        Ids ids = ids(0);
        Created created = Decider.create(new Command.Create(run, true, Actor.SYSTEM), changes, NOW, ids, capacity,
                Funds.UNLIMITED);
        if (executed) {
            StepRow first = changes.started().keySet().iterator().next();
            Reply reply = Decider.decide(Objects.requireNonNull(created.view()), new Command.Complete(run.id(),
                    first.id(), first.leaseEpoch(), Result.of("1"), Actor.SYSTEM), changes, NOW, ids, capacity,
                    Funds.UNLIMITED);
            Violation.unless(reply.equals(Reply.CHANGED), "the report with the creation was answered %s", reply);
        }
        Store store = new Store(null, Prices.NONE);
        store.commit(changes, List.of(), null, NOW, NOW);
        RunRows rows = store.run(run.id());
        Map<String, Held> beliefs = executed ? Map.of(worker, rows.stepsNow().stream()
                .filter(step -> step.state() == StepState.RUNNING)
                .map(step -> new Held(run.id(), step.id(), rows.laneOf(step), step.leaseEpoch(), step.spec()))
                .findFirst().orElseThrow()) : Map.of();
        return new SmallWorld(rows, null, beliefs, mishaps);
    }

    /** A run whose undo is explored: a task with an unknown outcome, then a task with two steps, each with an undo. */
    static List<SmallWorld> undoing(Mishaps mishaps) {
        NewRun failed = run(new UUID(0, 2), plan(), RULES, UndoRules.NONE);
        List<StepSpec> call = List.of(new StepSpec("back", StepKind.TOOL, "noop", "{}", ONCE, Duration.ofSeconds(30)));
        Plan undo = UndoPlan.of(List.of(
                new UndoPlan.Original(new UUID(3, 1), "a", "a", null, 0, List.of(), false,
                        List.of(new UndoPlan.Part(null, false, call))),
                new UndoPlan.Original(new UUID(3, 2), "b", "b", null, 0, List.of("a"), false,
                        List.of(new UndoPlan.Part("s0", true, call), new UndoPlan.Part("s1", true, call))),
                new UndoPlan.Original(new UUID(3, 3), "c", "c", null, 0, List.of("a"), false,
                        List.of(new UndoPlan.Part("s0", true, undoOfChild(), new UndoPlan.Child(CHILD, "r"))))));
        FailureRules goesOn = new FailureRules(FailureMode.CONTINUE, FailureMode.CONTINUE, ONCE, ONCE,
                EscalationPolicy.OFF, null, 0, false, false);
        NewRun undoes = run(new UUID(0, 1), undo, goesOn, new UndoRules(false, false, failed.id()));
        Store store = new Store(null, Prices.NONE);
        ChangeSet changes = new ChangeSet();
        Decider.create(new Command.Create(failed, true, Actor.SYSTEM), changes, NOW, ids(500), LocalCapacity.none(),
                Funds.UNLIMITED);
        store.commit(changes, List.of(), null, NOW, NOW);
        for (Command each : List.of(new Command.FailRun(failed.id(), null, Actor.SYSTEM),
                new Command.Undo(failed.id(), null, Actor.SYSTEM), new Command.Evaluated(failed.id(),
                        TimerKind.EVALUATE_UNDO, failed.id(), new Evaluation.Undoes(undoes), Actor.SYSTEM))) {
            ChangeSet next = new ChangeSet();
            Decider.decide(store.run(failed.id()).load(NOW), each, next, NOW, ids(0), LocalCapacity.none(),
                    Funds.UNLIMITED);
            store.commit(next, List.of(), null, NOW, NOW);
        }
        return List.of(new SmallWorld(store.run(undoes.id()), store.run(failed.id()), Map.of(), mishaps));
    }

    private static List<StepSpec> undoOfChild() {
        return List.of(new StepSpec("undo", StepKind.RUN, StepSpec.UNDO_RUN, "{}", RetryPolicy.NONE, StepSpec.OF_TASK));
    }

    /** The answers about the undo of the child. */
    private static List<Evaluation> childUndos() {
        return Stream.of(UndoRow.State.RUNNING, UndoRow.State.UNDONE, UndoRow.State.PARTLY_UNDONE, UndoRow.State.FAILED)
                .<Evaluation>map(state -> new Evaluation.ChildUndo(CHILD, state.wire(), new UUID(4, 2), 1, null, null))
                .toList();
    }

    private static NewRun run(UUID id, Plan plan, FailureRules rules, UndoRules undo) {
        return new NewRun(id, new UUID(9, 9), "r", null, "goal", plan, "{}", "{}",
                new RunPolicy(false, 1, 2, 2, 2, 2, false, 2, 1, 5).with(rules).with(undo), "{}", "[]", null, 0,
                "manual", null, null, "ann");
    }

    private static Plan plan() {
        return new Plan(1, List.of(task("a", List.of(), TriggerRule.ALL_SUCCESS, null, StepKind.TOOL, StepKind.TOOL),
                task("b", List.of(), TriggerRule.ALL_SUCCESS, "${ . }", StepKind.TOOL), task("c",
                        List.of(new Dependency("a", true), new Dependency("b", true)), TriggerRule.ALL_DONE, null,
                        StepKind.APPROVAL)));
    }

    private static TaskSpec task(String id, List<Dependency> on, TriggerRule rule, String when, StepKind... kinds) {
        List<StepSpec> steps = new ArrayList<>();
        for (StepKind kind : kinds) {
            steps.add(new StepSpec("s" + steps.size(), kind, kind.wire(), "{}",
                    new RetryPolicy(2, 2, Duration.ofSeconds(1), Duration.ofSeconds(9), 2, 0), Duration.ofSeconds(30)));
        }
        return new TaskSpec(id, id, null, TaskType.OTHER, null, on, rule, when, null, null, false, steps, null);
    }

    /** Ids follow from what there is, so that the same rows have the same ids on every way. */
    private static Ids ids(int taken) {
        int[] last = {taken};
        return () -> new UUID(1, ++last[0]);
    }

    boolean ended() {
        return rows.run.state().terminal();
    }

    List<Move> moves() {
        List<Move> moves = new ArrayList<>();
        if (!ended()) {
            claims(moves);
            clocks(moves);
            humans(moves);
        }
        reports(moves);
        return moves;
    }

    /** Idle workers are alike, so only one of them claims. */
    private void claims(List<Move> moves) {
        String worker = WORKERS.stream().filter(each -> !beliefs.containsKey(each)).findFirst().orElse(null);
        if (worker == null) {
            return;
        }
        rows.queue.forEach((lane, place) -> {
            Decided to = decide(new Command.Claim(rows.id(), lane.taskId(), lane.lane(), worker, LEASE,
                    Actor.agent(worker)), NOW);
            if (to.reply instanceof Reply.Claimed(StepAssignment assignment)) {
                moves.add(new Move(worker + " claims " + name(assignment.stepId()),
                        to.with(believing(worker, Held.of(to.rows, assignment)), left)));
            }
        });
    }

    private void reports(List<Move> moves) {
        beliefs.forEach((worker, held) -> {
            Map<String, Held> without = believing(worker, null);
            Command done = completed(held);
            Command failed = new Command.Fail(rows.id(), held.stepId(), held.epoch(),
                    new StepError("X", ErrorClass.INFRASTRUCTURE, "x"), Result.of("null"), Actor.SYSTEM);
            String what = name(held.stepId()) + " under " + held.epoch();
            Decided completed = decide(done, NOW);
            ReplyDurability.keep(done, completed.reply, completed.rows);
            moves.add(new Move(worker + " completes " + what, completed.with(without, left)));
            moves.add(new Move(worker + " fails " + what, decide(failed, NOW).with(without, left)));
            if (ended()) {
                return;
            }
            chain(worker, held, what, moves);
            if (left.lostAnswers > 0) {
                moves.add(new Move(worker + " completes and is not answered " + what, completed.with(beliefs,
                        left.loseAnswer())));
            }
            if (left.questions > 0 && rows.tasks.get(rows.steps.get(held.stepId()).taskId()).key().equals("b")) {
                moves.add(new Move(worker + " asks a person for " + what,
                        decide(asks(held), NOW).with(without, left.ask())));
            }
            if (left.crashes > 0) {
                moves.add(new Move(worker + " crashes", new SmallWorld(rows, original, without, left.crash())));
            }
        });
    }

    /** The holder has executed the next step of the lane, too: it reports both, or the first and continues with the second. */
    private void chain(String worker, Held held, String what, List<Move> moves) {
        Saved.Step first = rows.steps.get(held.stepId());
        Saved.Step next = rows.stepsNow().stream().filter(step -> step.taskId().equals(first.taskId())
                && step.position() == first.position() + 1).findFirst().orElse(null);
        if (next == null || next.state() != StepState.PENDING) {
            return;
        }
        LocalCapacity keeps = new LocalCapacity(worker, tool -> true, LEASE, 0);
        Held second = new Held(rows.id(), next.id(), held.lane(), next.leaseEpoch() + 1, next.spec());
        Command both = new Command.CompleteChain(rows.id(), List.of(completed(held), completed(second)), false,
                Actor.SYSTEM);
        Decided ended = decide(both, NOW, keeps);
        ReplyDurability.keep(both, ended.reply, ended.rows);
        moves.add(new Move(worker + " completes a chain from " + what, ended.with(believing(worker, null), left)));
        Decided continued = decide(completed(held), NOW, keeps);
        moves.add(new Move(worker + " continues after " + what,
                continued.with(believing(worker, continued.reply.equals(Reply.CHANGED) ? second : null), left)));
    }

    private Command.Complete completed(Held held) {
        return new Command.Complete(rows.id(), held.stepId(), held.epoch(), Result.of("1"), Actor.SYSTEM);
    }

    /** Hands the step back with its question: the waiting one, or the next. */
    private Command asks(Held held) {
        Saved.Wait stored = rows.waits.get(held.stepId());
        CallWait known = stored == null ? null : stored.now();
        int round = known == null ? 1 : known.rounds() + (known.state() == CallWait.State.ASKED ? 0 : 1);
        return new Command.Release(rows.id(), held.stepId(), held.epoch(),
                new Deferral(Duration.ofDays(365), Deferral.INBOX + "elic",
                        new StepError("X", ErrorClass.INFRASTRUCTURE, "x"), Duration.ofDays(365)),
                new CallWait(CallWait.State.ASKED, "other", "ask", null, null, "{}", null, round), List.of(),
                Actor.SYSTEM);
    }

    /** Leases that run out, timers, and the evaluator, whose answers are awaited under timers. */
    private void clocks(List<Move> moves) {
        rows.stepsNow().stream().filter(step -> step.state() == StepState.RUNNING).forEach(step -> {
            Saved.Place place = rows.queue.get(rows.laneOf(step));
            if (place == null || place.item().holder() == null) {
                return;
            }
            Held held = beliefs.get(place.item().holder());
            boolean alive = held != null && held.stepId().equals(step.id()) && held.epoch() == step.leaseEpoch();
            if (!alive || left.freezes > 0) {
                moves.add(new Move("lease of " + name(step.id()) + " runs out", decide(new Command.LeaseExpired(
                        rows.id(), step.id(), step.leaseEpoch(), LEASE, true, List.of(), Actor.RECONCILER), NOW)
                        .with(beliefs, !alive ? left : left.freeze())));
            }
        });
        for (Timer timer : rows.timers.values()) {
            if (timer.key().kind() == TimerKind.WATCH || timer.key().kind() == TimerKind.HUMAN) {
                continue;
            }
            UUID subject = timer.key().subject();
            moves.add(new Move("timer " + timer.key(), decide(new Command.TimerDue(rows.id(), timer.key().kind(),
                    subject, Actor.SYSTEM), timer.dueAt()).with(beliefs, left)));
            List<Evaluation> answers = switch (timer.key().kind()) {
                case EVALUATE_GATE -> List.of(new Evaluation.Proceed(null), new Evaluation.Skip());
                case EVALUATE_STEP -> rows.steps.get(subject).spec().undoesRun() ? childUndos()
                        : List.of(new Evaluation.Opened("{}", null, null));
                case EVALUATE_TASK_OUTPUT -> List.of(new Evaluation.Output("1"), new Evaluation.Repeats(1));
                case EVALUATE_RUN_OUTPUT -> List.of(new Evaluation.Output("1"));
                case EVALUATE_PLAN, EVALUATE_CHILD, EVALUATE_PARENT, EVALUATE_UNDO, EVALUATE_CHILD_UNDO, STEP_RETRY,
                        STEP_WAIT,
                        TASK_CONTINUE, TASK_RETRY,
                        AGENT_RETRY, RUN_RETRY, START,
                        HUMAN,
                        HEARTBEAT, WATCH ->
                    List.of();
            };
            answers.forEach(answer -> moves.add(new Move(answer.toString(), decide(new Command.Evaluated(rows.id(),
                    timer.key().kind(), subject, answer, Actor.SYSTEM), NOW).with(beliefs, left))));
        }
        if (rows.stepsNow().stream()
                .anyMatch(step -> step.spec().undoesRun() && step.state() == StepState.WAITING)) {
            childUndos().forEach(answer -> moves.add(new Move(answer.toString(), decide(new Command.Evaluated(rows.id(),
                    TimerKind.EVALUATE_CHILD_UNDO, CHILD, answer, Actor.SYSTEM), NOW).with(beliefs, left))));
        }
    }

    private void humans(List<Move> moves) {
        if (left.pauses > 0) {
            moves.add(new Move("pause", decide(new Command.Pause(rows.id(), null, Actor.SYSTEM), NOW).with(beliefs,
                    left.pause())));
        }
        if (left.cancels > 0) {
            moves.add(new Move("cancel", decide(new Command.Cancel(rows.id(), null, Actor.SYSTEM), NOW).with(beliefs,
                    left.cancel())));
        }
        if (rows.run.state() == RunState.PAUSED) {
            moves.add(new Move("resume", decide(new Command.Resume(rows.id(), Actor.SYSTEM), NOW).with(beliefs, left)));
        }
        rows.waits.forEach((step, call) -> {
            Command answer = new Command.Answer(rows.id(), step, call.now().rounds(),
                    CallServer.answers(call.now().rounds()), Actor.SYSTEM);
            Decided answered = decide(answer, NOW);
            ReplyDurability.keep(answer, answered.reply, answered.rows);
            Violation.unless(answered.reply.equals(Reply.CHANGED) == waits(step, call),
                    "%s was answered %s for %s", answer, answered.reply, call);
            moves.add(new Move("answer of " + name(step), answered.with(beliefs, left)));
        });
        rows.openTickets().forEach(ticket -> {
            for (Resolution answer : List.of(Resolution.RESUME, Resolution.SKIP, Resolution.DONE)) {
                if (answer != Resolution.RESUME || left.resumes > 0) {
                    moves.add(new Move(answer + " " + ticket.taskId(),
                            decide(new Command.Resolve(rows.id(), ticket.id(),
                                    answer, null, Actor.SYSTEM), NOW).with(beliefs,
                                            answer == Resolution.RESUME ? left.resume() : left)));
                }
            }
        });
        rows.stepsNow().stream().filter(step -> step.state() == StepState.WAITING_APPROVAL).forEach(step -> {
            for (boolean yes : List.of(true, false)) {
                moves.add(new Move(yes ? "approve" : "reject", decide(new Command.DecideStep(rows.id(), step.id(), yes,
                        null, Actor.SYSTEM), NOW).with(beliefs, left)));
            }
        });
    }

    /** Whether the question of the call can be answered. */
    private boolean waits(UUID step, Saved.Wait call) {
        return call.now().state() == CallWait.State.ASKED && rows.steps.get(step).state() == StepState.RUNNING;
    }

    private record Decided(Reply reply, RunRows rows, @Nullable RunRows original) {
        private SmallWorld with(Map<String, Held> beliefs, Mishaps left) {
            return new SmallWorld(rows, original, beliefs, left);
        }
    }

    /** Decides on a view of the stored rows and commits, all laws included. */
    private Decided decide(Command command, Instant now) {
        return decide(command, now, LocalCapacity.none());
    }

    private Decided decide(Command command, Instant now, LocalCapacity capacity) {
        Store store = new Store(null, Prices.NONE);
        store.put(rows);
        if (original != null) {
            store.put(original);
        }
        RunView view = rows.load(now);
        ChangeSet changes = new ChangeSet();
        Reply reply = Decider.decide(view, command, changes, now,
                ids(1 + rows.agents.size() + rows.tasks.size() + rows.steps.size() + rows.tickets.size()), capacity,
                Funds.UNLIMITED);
        Store.Outcome outcome = store.commit(changes, List.of(), null, now, now);
        Violation.unless(outcome == Store.Outcome.WRITTEN, "a concurrent write");
        return new Decided(reply, store.run(rows.id()), original);
    }

    private Map<String, Held> believing(String worker, Held held) {
        Map<String, Held> changed = new TreeMap<>(beliefs);
        if (held == null) {
            changed.remove(worker);
        } else {
            changed.put(worker, held);
        }
        return changed;
    }

    private String name(UUID stepId) {
        Saved.Step step = rows.steps.get(stepId);
        return rows.tasks.get(step.taskId()).key() + "/" + step.spec().name();
    }

    /** All that tells this state from another: no times, no versions, no event numbers. */
    String key() {
        StringBuilder key = new StringBuilder(400);
        key.append(rows.run.state()).append(rows.run.failing()).append(ended() ? "" : left);
        rows.agents.values().forEach(agent -> key.append(agent.state()));
        rows.tasks.values().forEach(task -> key.append(task.state()).append(task.errorCode()));
        rows.openTickets().forEach(ticket -> key.append(ticket.taskId()));
        rows.steps.values().forEach(step -> key.append(step.state()).append(step.attempt()).append(step.failures())
                .append(step.deliveries()).append(step.leaseEpoch()).append(step.resultEpoch()));
        new TreeMap<>(Map.copyOf(names())).forEach((name, holder) -> key.append(name).append(holder));
        rows.timers.keySet().stream().map(Object::toString).sorted().forEach(key::append);
        rows.waits
                .forEach((step, call) -> key.append(name(step)).append(call.now().state()).append(call.now().rounds()));
        beliefs.forEach((worker, held) -> key.append(worker).append(held.stepId()).append(held.epoch()));
        return key.toString();
    }

    private Map<String, String> names() {
        Map<String, String> names = new TreeMap<>();
        rows.queue.forEach((lane, place) -> names.put(lane.toString(), String.valueOf(place.item().holder())));
        return names;
    }
}
