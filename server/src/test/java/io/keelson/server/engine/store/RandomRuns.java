package io.keelson.server.engine.store;

import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.OpenRequest;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.StepRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.decide.TicketRow;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.WorstCase;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.DecideTask.Choice;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.NewArtifact;
import io.keelson.core.run.NextStepRequest;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.Verdict;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

/** Makes up runs and what happens to them, the same for the same seed. */
final class RandomRuns {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Actor TESTER = Actor.human("tester");

    private final World world;
    private final Random random;
    private final RandomPlans plans;
    private int names;

    RandomRuns(World world, long seed) {
        this.world = world;
        this.random = new Random(seed);
        this.plans = new RandomPlans(world, random);
    }

    Command create() {
        return new Command.Create(plans.newRun(), chance(80), TESTER);
    }

    /** A batch for some of the runs, mostly of commands that make sense; each run's commands in a row. */
    List<Command> batch(List<UUID> runs) throws SQLException {
        world.capacity =
                chance(50) ? LocalCapacity.none() : new LocalCapacity("node-1", tool -> true, LEASE, random.nextInt(4));
        world.tick(Duration.ofMillis(random.nextInt(400)));
        List<Command> batch = new ArrayList<>();
        for (UUID run : runs) {
            if (chance(60)) {
                RunView view = world.views.containsKey(run) ? world.view(run) : world.load(run);
                for (int i = 0; i <= random.nextInt(3); i++) {
                    batch.add(command(view));
                }
            }
        }
        return batch;
    }

    private Command command(RunView view) throws SQLException {
        UUID run = view.run().id();
        if (view.run().state().terminal()) {
            return view.run().state() == RunState.FAILED && chance(30)
                    ? new Command.Retry(run, chance(30), TESTER)
                    : new Command.Pause(run, null, TESTER);
        }
        return switch (random.nextInt(30)) {
            case 24, 25, 26 -> byHuman(view);
            case 27 -> intervention(view);
            case 0 -> new Command.Pause(run, "a break", TESTER);
            case 1 -> chance(4) ? new Command.Cancel(run, null, TESTER) : start(run);
            case 2 -> start(run);
            case 3, 4 -> new Command.Resume(run, TESTER);
            case 5, 6 -> chance(85) ? new Command.Approve(run, "fine", TESTER)
                    : new Command.Reject(run, null, TESTER);
            case 7, 8, 9, 10 -> timer(view);
            case 11, 12, 13, 14 -> claim(view);
            case 15 -> expired(view);
            default -> report(view);
        };
    }

    /** What a person does who is asked. */
    private Command byHuman(RunView view) {
        UUID run = view.run().id();
        TicketRow ticket = any(List.copyOf(view.tickets()));
        if (ticket != null) {
            return new Command.Resolve(run, ticket.id(),
                    Command.Resolution.values()[random.nextInt(chance(80) ? 2 : 4)],
                    chance(50) ? "so be it" : null, TESTER);
        }
        TaskRow judged = any(view.tasks().stream().filter(task -> task.state() == TaskState.AWAITING_HUMAN).toList());
        StepRow asked = any(steps(view, StepState.WAITING_APPROVAL));
        StepRow calls = any(steps(view, StepState.RUNNING).stream().filter(step -> step.call() != null).toList());
        if (calls != null && chance(70)) {
            return new Command.Answer(run, calls.id(), calls.call().rounds(), "{\"who\": 2}", TESTER);
        }
        if (judged != null) {
            return new Command.DecideTask(run, judged.id(), Choice.values()[random.nextInt(3)],
                    chance(50) ? judged.attempt() : null, chance(50) ? "hm" : null, TESTER);
        }
        if (view.run().state() == RunState.BUDGET_EXCEEDED || chance(5)) {
            return new Command.RaiseBudget(run, BigDecimal.valueOf(random.nextInt(1_000), 2),
                    chance(30) ? BigDecimal.valueOf(random.nextInt(300), 2) : null, Map.of(), TESTER);
        }
        return asked != null ? new Command.DecideStep(run, asked.id(), chance(70), null, TESTER)
                : new Command.Approve(run, null, TESTER);
    }

    /** What a person does unasked. */
    private Command intervention(RunView view) {
        UUID run = view.run().id();
        List<TaskRow> waiting = view.tasks().stream().filter(each -> each.state() == TaskState.AWAITING_RETRY).toList();
        TaskRow task = any(waiting.isEmpty() || chance(50) ? List.copyOf(view.tasks()) : waiting);
        if (task == null || chance(30)) {
            return new Command.Replan(run, null, TESTER);
        }
        return switch (random.nextInt(10)) {
            case 0 -> chance(20) ? new Command.FailRun(run, "enough", TESTER)
                    : new Command.Settle(run, Actor.RECONCILER);
            case 1 -> new Command.CancelAgent(run, 1 + random.nextInt(3), null, TESTER);
            case 2, 3 -> new Command.CancelTask(run, task.id(), null, TESTER);
            case 4, 5 -> new Command.SkipTask(run, task.id(), "not now", TESTER);
            default -> new Command.RetryTask(run, task.id(), TESTER);
        };
    }

    private static Command start(UUID run) {
        return new Command.Start(run, TESTER);
    }

    private Command claim(RunView view) {
        TaskRow task = any(new ArrayList<>(view.tasks()));
        if (task == null || task.steps().isEmpty()) {
            return start(view.run().id());
        }
        return new Command.Claim(view.run().id(), task.id(), any(task.steps()).lane(), "worker-" + random.nextInt(2),
                LEASE, Actor.agent("worker"));
    }

    private Command expired(RunView view) {
        StepRow step = running(view);
        return step == null ? start(view.run().id())
                : new Command.LeaseExpired(view.run().id(), step.id(),
                        step.leaseEpoch() - (chance(20) ? 1 : 0), LEASE,
                        step.id().getLeastSignificantBits() % 2 == 0, List.of(), Actor.RECONCILER);
    }

    private Command report(RunView view) {
        UUID run = view.run().id();
        StepRow step = running(view);
        if (step == null) {
            return claim(view);
        }
        int epoch = step.leaseEpoch() - (chance(10) ? 1 : 0);
        Actor actor = Actor.agent("worker");
        return switch (random.nextInt(17)) {
            case 14, 15, 16 -> request(run, step, epoch, actor);
            case 12 -> asks(run, step, epoch, actor);
            case 13 -> new Command.TrackCall(run, step.id(), epoch, chance(60) ? call(CallWait.State.SENT, 0)
                    : chance(50) ? call(CallWait.State.ANSWERED, 0) : null, actor);
            case 0 -> new Command.Release(run, step.id(), epoch, actor);
            case 1 -> new Command.Continue(run, step.id(), epoch, result(), actor);
            case 2, 3 -> new Command.Fail(run, step.id(), epoch, error(), result(), actor);
            case 4, 5 -> new Command.Complete(run, step.id(), epoch, result(step), new NextStepRequest(
                    String.valueOf(step.holder()), Set.of(step.spec().tool()), Duration.ofSeconds(30)), actor);
            default -> new Command.Complete(run, step.id(), epoch, result(step), actor);
        };
    }

    /** A program of the step begins or ends a request to a model. */
    private Command request(UUID run, StepRow step, int epoch, Actor actor) {
        OpenRequest open = any(List.copyOf(step.requests()));
        if (open == null || chance(40)) {
            return new Command.AskModel(run, step.id(), epoch, UUID.randomUUID(),
                    new WorstCase("model", random.nextInt(10_000), 1 + random.nextInt(10_000), true), 100,
                    "a".repeat(64),
                    "b".repeat(64), "{\"path\": \"/\"}", chance(50), actor);
        }
        Command.EndRequest.Outcome outcome = any(List.of(Command.EndRequest.Outcome.values()));
        return new Command.EndRequest(run, step.id(), open.id(), outcome,
                outcome == Command.EndRequest.Outcome.ANSWERED ? Result.spent(tokens(100), null, "model") : null,
                outcome == Command.EndRequest.Outcome.ANSWERED ? "{\"text\": \"hi\"}" : null, actor);
    }

    private Command asks(UUID run, StepRow step, int epoch, Actor actor) {
        Deferral deferral = new Deferral(Duration.ofMinutes(1), Deferral.INBOX + "elic_" + step.id(), error(),
                Duration.ofDays(365));
        int rounds = step.call() == null ? 0 : step.call().rounds();
        CallWait.State state = CallWait.State.values()[1 + random.nextInt(3)];
        return new Command.Release(run, step.id(), epoch, deferral, call(state, rounds + 1), List.of(), actor);
    }

    private CallWait call(CallWait.State state, int rounds) {
        return new CallWait(state, "other", "ask", chance(50) ? "opaque" : null,
                state == CallWait.State.TASK ? "t1" : null, chance(50) ? "{\"who\": {}}" : null,
                state == CallWait.State.ANSWERED && chance(50) ? "{\"who\": 1}" : null, rounds);
    }

    private Tokens tokens(int bound) {
        int output = random.nextInt(bound);
        return new Tokens(random.nextInt(bound), random.nextInt(bound), random.nextInt(bound), output,
                random.nextInt(output + 1));
    }

    private Result result() {
        List<NewArtifact> artifacts = chance(15)
                ? List.of(
                        new NewArtifact("file-" + names++, "text/plain", 3, "a".repeat(64), "key-" + UUID.randomUUID()))
                : List.of();
        return new Result(chance(50) ? "{\"ok\":true}" : "\"some text\"", tokens(100),
                new BigDecimal("0." + random.nextInt(1000)), artifacts);
    }

    private Result result(StepRow step) {
        if (step.spec().kind() != StepKind.VERIFY) {
            return result();
        }
        Verdict verdict = chance(10) ? null
                : new Verdict(Verdict.Outcome.values()[random.nextInt(3)],
                        chance(80) ? new BigDecimal("0." + (10 + random.nextInt(90))) : null,
                        chance(50) ? "go on" : null);
        return new Result("{\"v\":1}", tokens(10), null, null, List.of(), verdict);
    }

    private StepError error() {
        return new StepError("BROKE",
                chance(75) ? ErrorClass.INFRASTRUCTURE : ErrorClass.values()[1 + random.nextInt(2)], "it broke",
                chance(20) ? Duration.ofSeconds(3) : null);
    }

    /** What the database's timers say: due ones come due, evaluations get their answer. */
    private Command timer(RunView view) throws SQLException {
        UUID run = view.run().id();
        List<String> timers = world.query("select kind || ' ' || subject from timers where run_id = ? order by 1", run);
        if (timers.isEmpty()) {
            return report(view);
        }
        String[] timer = any(timers).split(" ");
        TimerKind kind = TimerKind.of(timer[0]);
        UUID subject = UUID.fromString(timer[1]);
        if (!kind.evaluation() || chance(10)) {
            if (kind != TimerKind.WATCH || chance(20)) {
                world.tick(Duration.ofSeconds(random.nextInt(40)));
            }
            return new Command.TimerDue(run, kind, subject, Actor.SYSTEM);
        }
        return new Command.Evaluated(run, kind, subject, answer(view, kind, subject), Actor.SYSTEM);
    }

    private Evaluation answer(RunView view, TimerKind kind, UUID subject) {
        if (chance(5)) {
            return new Evaluation.Broken(new StepError("EXPRESSION_FAILED", ErrorClass.PERMANENT, "no such field"));
        }
        return switch (kind) {
            case EVALUATE_GATE -> gate(view, subject);
            case EVALUATE_STEP -> new Evaluation.Opened("{\"seconds\":1}", Duration.ofSeconds(1), null);
            case EVALUATE_PLAN -> plans.replan(view);
            default -> {
                TaskRow task = view.task(subject);
                yield task != null && task.isLoop() && chance(70) ? new Evaluation.Repeats(1)
                        : new Evaluation.Output("{\"made\":" + random.nextInt(9) + "}");
            }
        };
    }

    private Evaluation gate(RunView view, UUID subject) {
        TaskRow task = view.task(subject);
        if (chance(15)) {
            return new Evaluation.Skip();
        }
        boolean group = task != null && task.spec().forEach() != null && !task.isLoop();
        return new Evaluation.Proceed(group ? List.of("1", "{\"b\":2}", "\"x\"").subList(0, random.nextInt(4)) : null);
    }

    private StepRow running(RunView view) {
        return any(steps(view, StepState.RUNNING));
    }

    private static List<StepRow> steps(RunView view, StepState state) {
        return view.tasks().stream().flatMap(task -> task.steps().stream()).filter(step -> step.state() == state)
                .toList();
    }

    private <T> T any(List<T> list) {
        return list.isEmpty() ? null : list.get(random.nextInt(list.size()));
    }

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }
}
