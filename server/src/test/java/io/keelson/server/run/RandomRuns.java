package io.keelson.server.run;

import static io.keelson.server.run.RunFixtures.run;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.NewArtifact;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Next;
import io.keelson.core.run.Offer;
import io.keelson.core.run.Result;
import io.keelson.core.run.RunView;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepRow;
import io.keelson.core.run.TaskRow;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

/** Makes up runs and what happens to them, the same for the same seed. */
final class RandomRuns {
    private static final List<String> AGENTS = List.of("ada", "bob", "cyd");
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final World world;
    private final Random random;
    private int names;

    RandomRuns(World world, long seed) {
        this.world = world;
        this.random = new Random(seed);
    }

    Command create() {
        int count = 1 + random.nextInt(7);
        List<TaskSpec> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            List<Dependency> up = new ArrayList<>();
            for (int j = 0; j < i; j++) {
                if (chance(35)) {
                    up.add(new Dependency("t" + j, chance(70)));
                }
            }
            tasks.add(task("t" + i, up));
        }
        RunPolicy policy = new RunPolicy(chance(20), 3, 1 + random.nextInt(3), 1 + random.nextInt(2),
                1 + random.nextInt(3), 1 + random.nextInt(3), chance(20), 4, 2, 5);
        NewRun run = run(world.ids.next(), world.workspace, policy, tasks.toArray(TaskSpec[]::new));
        if (chance(30)) {
            run = new NewRun(run.id(), run.workspaceId(), run.name(), run.description(), run.goal(), run.plan(),
                    run.planJson(), run.configJson(), run.policy(), run.inputsJson(), run.tagsJson(),
                    "{\"all\":\"${ .tasks }\"}", random.nextInt(200), "api", "slug", null, "tester");
        }
        return new Command.Create(run, chance(80), Actor.human("tester"));
    }

    private TaskSpec task(String id, List<Dependency> up) {
        List<StepSpec> steps = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(4); i++) {
            steps.add(step("s" + i));
        }
        return new TaskSpec(id, "Task " + id, chance(50) ? "words" : null, "research",
                chance(50) ? AGENTS.get(random.nextInt(3)) : null, up, rule(), chance(15) ? "${ true }" : null,
                chance(20) ? "${ [1, 2] }" : null, chance(20) ? "{\"v\":\"${ .steps }\"}" : null, chance(30), steps,
                chance(50) ? "it works" : null);
    }

    private TriggerRule rule() {
        return chance(70) ? TriggerRule.ALL_SUCCESS : TriggerRule.values()[random.nextInt(4)];
    }

    private StepSpec step(String name) {
        StepKind kind = chance(80) ? StepKind.TOOL : StepKind.values()[random.nextInt(4)];
        return new StepSpec(name, kind, kind == StepKind.TOOL ? "echo" : kind.wire(), "{\"n\":[1,\"${ .item }\"]}",
                chance(70) ? RetryPolicy.STEP
                        : new RetryPolicy(2, 2, Duration.ofMillis(1500), Duration.ofMinutes(1), 3, 0),
                Duration.ofMillis(1 + random.nextInt(100_000)));
    }

    /** A batch for some of the runs, mostly of commands that make sense; each run's commands in a row. */
    List<Command> batch(List<UUID> runs) throws SQLException {
        world.offer = chance(50) ? Offer.none() : new Offer("node-1", tool -> true, LEASE, random.nextInt(4));
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
                    ? new Command.Retry(run, chance(30), Actor.human("tester"))
                    : new Command.Pause(run, null, Actor.human("tester"));
        }
        return switch (random.nextInt(24)) {
            case 0 -> new Command.Pause(run, "a break", Actor.human("tester"));
            case 1 -> chance(4) ? new Command.Cancel(run, null, Actor.human("tester")) : start(run);
            case 2 -> start(run);
            case 3, 4 -> new Command.Resume(run, Actor.human("tester"));
            case 5, 6 -> chance(85) ? new Command.Approve(run, "fine", Actor.human("tester"))
                    : new Command.Reject(run, null, Actor.human("tester"));
            case 7, 8, 9, 10 -> timer(view);
            case 11, 12, 13, 14 -> claim(view);
            case 15 -> expired(view);
            default -> report(view);
        };
    }

    private static Command start(UUID run) {
        return new Command.Start(run, Actor.human("tester"));
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
                : new Command.LeaseExpired(view.run().id(), step.task().id(), step.lane(),
                        step.leaseEpoch() - (chance(20) ? 1 : 0), Actor.RECONCILER);
    }

    private Command report(RunView view) {
        UUID run = view.run().id();
        StepRow step = running(view);
        if (step == null) {
            return claim(view);
        }
        int epoch = step.leaseEpoch() - (chance(10) ? 1 : 0);
        Actor actor = Actor.agent("worker");
        return switch (random.nextInt(12)) {
            case 0 -> new Command.Release(run, step.id(), epoch, actor);
            case 1 -> new Command.Continue(run, step.id(), epoch, result(), actor);
            case 2, 3 -> new Command.Fail(run, step.id(), epoch, error(), result(), actor);
            case 4, 5 -> new Command.Complete(run, step.id(), epoch, result(), new Next(String.valueOf(step.holder()),
                    Set.of(step.spec().tool()), Duration.ofSeconds(30)), actor);
            default -> new Command.Complete(run, step.id(), epoch, result(), actor);
        };
    }

    private Result result() {
        List<NewArtifact> artifacts = chance(15)
                ? List.of(new NewArtifact("file-" + names++, "text/plain", 3, "a".repeat(64), "key"))
                : List.of();
        return new Result(chance(50) ? "{\"ok\":true}" : "\"some text\"", random.nextInt(100),
                new BigDecimal("0." + random.nextInt(1000)), artifacts);
    }

    private StepError error() {
        return new StepError("BROKE", chance(75) ? ErrorClass.INFRASTRUCTURE : ErrorClass.PERMANENT, "it broke",
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
            world.tick(Duration.ofSeconds(random.nextInt(40)));
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
            default -> new Evaluation.Output("{\"made\":" + random.nextInt(9) + "}");
        };
    }

    private Evaluation gate(RunView view, UUID subject) {
        TaskRow task = view.task(subject);
        if (chance(15)) {
            return new Evaluation.Skip();
        }
        boolean group = task != null && task.spec().forEach() != null;
        return new Evaluation.Proceed(group ? List.of("1", "{\"b\":2}", "\"x\"").subList(0, random.nextInt(4)) : null);
    }

    private StepRow running(RunView view) {
        List<StepRow> running = new ArrayList<>();
        view.tasks().forEach(task -> task.steps().stream().filter(step -> step.state() == StepState.RUNNING)
                .forEach(running::add));
        return any(running);
    }

    private <T> T any(List<T> list) {
        return list.isEmpty() ? null : list.get(random.nextInt(list.size()));
    }

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }
}
