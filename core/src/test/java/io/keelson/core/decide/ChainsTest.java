package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Prices;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.WorstCase;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.NextStepRequest;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepAssignment;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which steps a node may execute after a claimed one, and how their reports are decided together. */
class ChainsTest extends OneWorkspace {
    private static final Actor NODE = Actor.agent("node");

    /** The tool {@code effect} has effects, {@code limited} a concurrency limit, {@code remote} is of workers. */
    private static LocalCapacity capacity(boolean limits) {
        return new LocalCapacity("node", tool -> !tool.equals("remote"), World.LEASE, new LocalCapacity.Slots() {
            @Override
            public boolean take(String tool) {
                return true;
            }

            @Override
            public boolean fits(ChangeSet.Lane lane, String tool) {
                return true;
            }

            @Override
            public boolean chains(String tool) {
                return !tool.equals("effect");
            }
        }, LocalCapacity.RemoteSlots.NONE, new LocalCapacity.Limits() {
            @Override
            public boolean limited(UUID workspace) {
                return limits;
            }

            @Override
            public boolean limited(UUID workspace, String tool, String input, @Nullable String agent) {
                return tool.equals("limited");
            }
        }, LocalCapacity.Versions.NONE);
    }

    private static StepRow claim(World world) {
        QueueItem item = world.queue.values().iterator().next();
        world.send(new Command.Claim(world.id(), item.key().taskId(), item.key().lane(), "node", World.LEASE, NODE),
                capacity(false));
        return world.view.steps.values().stream().filter(StepRow::isHeld).findFirst().orElseThrow();
    }

    private static List<String> following(World world) {
        return world.chains.get(claim(world)).steps().stream().map(StepRow::name).toList();
    }

    private static StepSpec step(String name, String tool, String input) {
        return new StepSpec(name, StepKind.TOOL, tool, input, RetryPolicy.STEP, Duration.ofSeconds(30));
    }

    /** Each task has {@code s1}, {@code s2}, a step, and {@code s3}. */
    static Stream<Arguments> ends() {
        return Stream.of(
                Arguments.of("computes", step("x", "noop", "{}"), List.of("s2", "x", "s3")),
                Arguments.of("refers to a step", step("x", "noop", "{\"a\": \"${ .steps.s1.output }\"}"),
                        List.of("s2", "x", "s3")),
                Arguments.of("has an effect", step("x", "effect", "{}"), List.of("s2")),
                Arguments.of("is a worker's", step("x", "remote", "{}"), List.of("s2")),
                Arguments.of("has a limit", step("x", "limited", "{}"), List.of("s2")),
                Arguments.of("opens a secret", step("x", "noop", "{\"a\": \"${ .secrets.key }\"}"), List.of("s2")),
                Arguments.of("holds its worst case",
                        step("x", "noop", "{}").within(new WorstCase("model", 10, 10, false)), List.of("s2")),
                Arguments.of("is an approval", kind(StepKind.APPROVAL), List.of("s2")),
                Arguments.of("is a turn", kind(StepKind.TURN), List.of("s2")),
                Arguments.of("waits", kind(StepKind.WAIT), List.of("s2")),
                Arguments.of("waits for a signal", kind(StepKind.SIGNAL), List.of("s2")),
                Arguments.of("starts a run", kind(StepKind.RUN), List.of("s2")));
    }

    private static StepSpec kind(StepKind kind) {
        return new StepSpec("x", kind, "noop", "{}", RetryPolicy.STEP, Duration.ofSeconds(30));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ends")
    void endsBeforeAStepThat(String what, StepSpec step, List<String> following) {
        World world = World.start(plan(task("a").steps(2).step(step).step("s3", StepKind.TOOL)));
        assertThat(following(world)).as(what).isEqualTo(following);
    }

    /** The first step of a chain may be executed again as well, when the steps after it were executed. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("ends")
    void doesNotBeginWithAStepThat(String what, StepSpec step, List<String> following) {
        if (step.kind() == StepKind.TOOL && !step.tool().equals("remote")) {
            World world = World.start(plan(task("a").step(step).steps(2)));
            assertThat(following(world)).as(what).hasSize(following.size() > 1 ? 2 : 0);
        }
    }

    @Test
    void tasksCanForbidChains() {
        assertThat(following(World.start(plan(task("a").steps(3).policy(TaskPolicy.DEFAULT.unchained(true))))))
                .isEmpty();
    }

    @Test
    void parallelStepsFormNoChain() {
        assertThat(following(World.start(plan(task("a").parallel().steps(3))))).isEmpty();
    }

    @Test
    void hasAtMostSixtyFourSteps() {
        assertThat(following(World.start(plan(task("a").steps(100))))).hasSize(63).last().isEqualTo("s64");
    }

    /** The price of a step counts before it has begun. */
    @Test
    void endsWhereTheLimitIsReached() {
        World world = run("10", budget(limited("1")), steps(5));
        world.prices = FLAT;
        StepRow first = claim(world);
        assertThat(world.chains.get(first).steps()).extracting(StepRow::name).containsExactly("s2");
        assertThat(world.chains.get(first).endsAtCharge()).isTrue();
    }

    @Test
    void endsAtNoChargeWithoutALimit() {
        World world = run("10", RunPolicy.DEFAULT, steps(5));
        world.prices = FLAT;
        StepRow first = claim(world);
        assertThat(world.chains.get(first).steps()).hasSize(4);
        assertThat(world.chains.get(first).endsAtCharge()).isFalse();
    }

    @Nested
    class Reports {

        private int taken(Reply reply) {
            return ((Reply.Taken) reply).reports();
        }

        @Test
        void duplicatesAreTaken() {
            World world = World.start(steps(3));
            Command chain = chain(world, completed(world, claim(world), 3), false);
            assertThat(taken(world.send(chain, capacity(false)))).isEqualTo(3);
            assertThat(world.state()).isEqualTo(RunState.COMPLETED);
            int events = world.events.size();
            assertThat(taken(world.send(chain, capacity(false)))).isEqualTo(3);
            assertThat(world.events).hasSize(events);
        }

        @Test
        void stepsAfterAPauseAreNotTaken() {
            World world = World.start(steps(3));
            StepRow first = claim(world);
            world.done(new Command.Pause(world.id(), null, World.WHO));
            assertThat(taken(world.send(chain(world, completed(world, first, 3), false), capacity(false))))
                    .isEqualTo(1);
            assertThat(world.step("a", "s2").state()).isEqualTo(StepState.PENDING);
        }

        @Test
        void stepsAfterALostLeaseAreNotTaken() {
            World world = World.start(steps(3));
            StepRow first = claim(world);
            List<Command.Report> reports = completed(world, first, 3);
            world.expire(first);
            assertThat(taken(world.send(chain(world, reports, false), capacity(false)))).isEqualTo(0);
        }

        @Test
        void aFailureEndsTheChain() {
            World world = World.start(steps(3));
            StepRow first = claim(world);
            List<Command.Report> reports = completed(world, first, 2);
            reports.set(1, new Command.Fail(world.id(), reports.get(1).stepId(), 1,
                    new StepError("BROKEN", ErrorClass.INFRASTRUCTURE, "broken"), Result.of("null"), NODE));
            assertThat(taken(world.send(chain(world, reports, false), capacity(false)))).isEqualTo(2);
            assertThat(world.step("a", "s2").state()).isEqualTo(StepState.AWAITING_RETRY);
        }

        @Test
        void theLimitStopsTheChainAtItsStep() {
            World world = run("10", budget(limited("1")), steps(5));
            StepRow first = claim(world);
            List<Command.Report> reports = new ArrayList<>();
            for (Command.Report report : completed(world, first, 4)) {
                reports.add(new Command.Complete(world.id(), report.stepId(), 1,
                        new Result("1", Tokens.undivided(10), new BigDecimal("0.5"), List.of()), NODE));
            }
            assertThat(taken(world.send(chain(world, reports, false), capacity(false)))).isEqualTo(2);
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            assertThat(world.view.run().charged()).isEqualTo(usd("1"));
        }

        @Test
        void yieldingLaneGoesBehindWaitingWork() {
            World world = World.start(steps(3));
            List<Command.Report> reports = completed(world, claim(world), 2);
            assertThat(taken(world.send(chain(world, reports, true), capacity(true)))).isEqualTo(2);
            assertThat(world.step("a", "s3").isHeld()).isFalse();
            assertThat(world.queue.values()).singleElement().satisfies(item -> assertThat(item.holder()).isNull());
        }
    }

    /** Steps that a remote worker gets with a claim, and its reports. */
    @Nested
    class OfWorkers {
        private static final Actor WORKER = Actor.agent("w1");
        private static final Set<String> CHAINED = Set.of("noop", "limited");

        private StepAssignment claimed(World world, Set<String> chained) {
            QueueItem item = world.queue.values().iterator().next();
            return ((Reply.Claimed) world.send(new Command.Claim(world.id(), item.key().taskId(), item.key().lane(),
                    "w1", World.LEASE, chained, WORKER), capacity(false))).assignment();
        }

        private List<String> following(World world) {
            return claimed(world, CHAINED).following().stream()
                    .map(next -> world.view.step(next.stepId()).name()).toList();
        }

        @ParameterizedTest(name = "{0}")
        @MethodSource("io.keelson.core.decide.ChainsTest#ends")
        void endBeforeAStepThat(String what, StepSpec step, List<String> following) {
            World world = World.start(plan(task("a").steps(2).step(step).step("s3", StepKind.TOOL)));
            assertThat(following(world)).as(what).isEqualTo(step.worstCase() == null ? following : List.of());
        }

        @Test
        void existOnlyForToolsThatTheWorkerNames() {
            World world = World.start(steps(3));
            assertThat(claimed(world, Set.of()).following()).isEmpty();
            assertThat(following(World.start(plan(task("a").step(step("x", "effect", "{}")).steps(2))))).isEmpty();
            assertThat(following(World.start(plan(task("a").steps(3).policy(TaskPolicy.DEFAULT.unchained(true))))))
                    .isEmpty();
        }

        @Test
        void endWhereALimitMayHoldBack() {
            World world = run("10", budget(limited("1")), steps(5));
            world.prices = FLAT;
            assertThat(following(world)).isEmpty();
        }

        @Test
        void haveTheFactsOfTheirExecutions() {
            World world = World.start(steps(2));
            StepAssignment first = claimed(world, CHAINED);
            StepRow second = world.step("a", "s2");
            assertThat(first.following()).containsExactly(new StepAssignment(world.id(), second.task().id(),
                    second.id(), "noop", "{}", 1, 1, first.leaseExpiresAt(), world.now.plusSeconds(30),
                    world.id() + "/1/a/s2", null, first.trace(), null));
            assertThat(second.state()).as("no row of it has changed").isEqualTo(StepState.PENDING);
        }

        /** Also of a worker that requests no further step. */
        @ParameterizedTest
        @ValueSource(booleans = {false, true})
        void reportsOfAChainPassItsLaneOn(boolean more) {
            World world = World.start(steps(5));
            StepAssignment first = claimed(world, CHAINED);
            List<Command.Report> reports = reports(world, first, List.of(0, 1, 2),
                    more ? new NextStepRequest("w1", CHAINED, World.LEASE, CHAINED, "unversioned") : null);

            List<Reply> replies = ((Reply.Taken) world.send(chain(world, reports, false), capacity(false))).replies();

            assertThat(replies.subList(0, 2)).containsOnly(Reply.CHANGED);
            assertThat(world.step("a", "s3").state()).isEqualTo(StepState.COMPLETED);
            assertThat(world.step("a", "s4").holder()).isEqualTo(more ? "w1" : "node");
            if (more) {
                StepAssignment next = ((Reply.Claimed) replies.getLast()).assignment();
                assertThat(next.stepId()).isEqualTo(world.step("a", "s4").id());
                assertThat(next.following()).extracting(StepAssignment::stepId)
                        .containsExactly(world.step("a", "s5").id());
                assertThat(world.send(chain(world, reports, false), capacity(false))).isEqualTo(new Reply.Taken(List
                        .of(new Reply.Duplicate(null), new Reply.Duplicate(null), new Reply.Duplicate(next.stepId()))));
            }
        }

        @Test
        void anotherHoldersStepIsNotPassedOn() {
            World world = World.start(steps(3));
            StepAssignment first = claimed(world, CHAINED);
            List<Command.Report> reports = reports(world, first, List.of(0, 1), null);
            world.expire(world.step("a", "s1"));
            claimed(world, Set.of());
            assertThat(((Reply.Taken) world.send(chain(world, reports, false), capacity(false))).reports()).isZero();
            assertThat(world.step("a", "s2").state()).isEqualTo(StepState.PENDING);
        }

        /** The worker has no result of the step between. */
        @Test
        void aMissingReportLeavesItsStepToTheWorker() {
            World world = World.start(steps(3));
            StepAssignment first = claimed(world, CHAINED);
            List<Command.Report> reports = reports(world, first, List.of(0, 2),
                    new NextStepRequest("w1", CHAINED, World.LEASE));
            List<Reply> replies = ((Reply.Taken) world.send(chain(world, reports, false), capacity(false))).replies();
            assertThat(replies).singleElement().isInstanceOfSatisfying(Reply.Claimed.class,
                    claimed -> assertThat(claimed.assignment().stepId()).isEqualTo(world.step("a", "s2").id()));
        }

        private static List<Command.Report> reports(World world, StepAssignment first, List<Integer> which,
                NextStepRequest request) {
            List<StepAssignment> steps = new ArrayList<>(List.of(first));
            steps.addAll(first.following());
            List<Command.Report> reports = new ArrayList<>();
            for (int i : which) {
                reports.add(new Command.Complete(world.id(), steps.get(i).stepId(), steps.get(i).leaseEpoch(),
                        Result.of("1"), request, WORKER));
            }
            return reports;
        }
    }

    /** Reports of the claimed step and those after it, which have no epoch yet. */
    private static List<Command.Report> completed(World world, StepRow first, int count) {
        List<StepRow> steps = first.task().steps();
        int from = steps.indexOf(first);
        List<Command.Report> reports = new ArrayList<>();
        for (StepRow step : steps.subList(from, from + count)) {
            reports.add(new Command.Complete(world.id(), step.id(), step == first ? step.leaseEpoch() : 1,
                    Result.of("\"" + step.name() + "\""), NODE));
        }
        return reports;
    }

    private static Command chain(World world, List<Command.Report> reports, boolean yields) {
        return new Command.CompleteChain(world.id(), reports, yields, NODE);
    }

    static IntStream stories() {
        return IntStream.range(0, 200);
    }

    /** One story with a report per command, and again with the reports of each chain in one command. */
    @ParameterizedTest
    @MethodSource("stories")
    void recordsAreEqualWithAndWithoutChains(int seed) {
        World single = story(seed, false);
        World chained = story(seed, true);
        assertThat(chained.events).isEqualTo(single.events);
        assertThat(chained.results).isEqualTo(single.results);
        assertThat(chained.outputs).isEqualTo(single.outputs);
        assertThat(chained.bank.ledger()).isEqualTo(single.bank.ledger());
        assertThat(chained.queue).isEqualTo(single.queue);
        assertThat(chained.timers).isEqualTo(single.timers);
        if (!single.state().terminal()) {
            single.view.run().version = chained.view.run().version;
        }
        assertThat(List.of(chained.state(), chained.taskStates()))
                .isEqualTo(List.of(single.state(), single.taskStates()));
    }

    /** As above, with a remote worker that requests next steps. */
    @ParameterizedTest
    @MethodSource("stories")
    void recordsOfWorkersAreEqualWithAndWithoutChains(int seed) {
        World single = workersStory(seed, false);
        World chained = workersStory(seed, true);
        assertThat(chained.events).isEqualTo(single.events);
        assertThat(chained.results).isEqualTo(single.results);
        assertThat(chained.bank.ledger()).isEqualTo(single.bank.ledger());
        assertThat(chained.queue).isEqualTo(single.queue);
        assertThat(chained.timers).isEqualTo(single.timers);
        assertThat(List.of(chained.state(), chained.taskStates()))
                .isEqualTo(List.of(single.state(), single.taskStates()));
    }

    private static World workersStory(int seed, boolean chains) {
        Random random = new Random(seed);
        Random faults = new Random(seed);
        World world = World.start(RunPolicy.DEFAULT, storyPlan(random));
        StepAssignment next = null;
        for (int i = 0; i < 40; i++) {
            QueueItem waiting = world.queue.values().stream().filter(item -> item.holder() == null).findFirst()
                    .orElse(null);
            if (next == null && waiting == null) {
                return world;
            }
            StepAssignment first = next != null ? next
                    : ((Reply.Claimed) world.send(new Command.Claim(world.id(), waiting.key().taskId(),
                            waiting.key().lane(), "w1", World.LEASE, Set.of("noop"), NODE))).assignment();
            next = reportOfWorker(world, first, faults, chains);
            if (world.timers.keySet().stream().anyMatch(key -> key.kind() == TimerKind.STEP_RETRY)) {
                world.nextBackoff();
            }
        }
        return world;
    }

    /** Returns the step with which the worker continues; null if absent. */
    private static StepAssignment reportOfWorker(World world, StepAssignment first, Random random, boolean chains) {
        NextStepRequest request = new NextStepRequest("w1", Set.of("noop"), World.LEASE, Set.of("noop"), "unversioned");
        List<StepAssignment> members = new ArrayList<>(List.of(first));
        members.addAll(first.following());
        List<Command.Report> reports = new ArrayList<>();
        for (StepAssignment step : members) {
            boolean fails = random.nextInt(6) == 0;
            boolean last = fails || step == members.getLast() || random.nextInt(5) == 0;
            reports.add(fails
                    ? new Command.Fail(world.id(), step.stepId(), step.leaseEpoch(),
                            new StepError("BROKEN", ErrorClass.INFRASTRUCTURE, "broken"), Result.of("null"), NODE)
                    : new Command.Complete(world.id(), step.stepId(), step.leaseEpoch(), Result.of("1"),
                            request, NODE));
            if (last) {
                break;
            }
        }
        if (random.nextInt(4) == 0) {
            world.send(new Command.Pause(world.id(), null, World.WHO));
        }
        Reply reply = Reply.UNCHANGED;
        if (chains) {
            List<Reply> replies = ((Reply.Taken) world.send(chain(world, reports, false))).replies();
            reply = replies.size() < reports.size() ? reply : replies.getLast();
        } else {
            for (Command.Report report : reports) {
                reply = world.send(report);
            }
        }
        world.send(new Command.Resume(world.id(), World.WHO));
        return reply instanceof Reply.Claimed(StepAssignment next) ? next : null;
    }

    private static World story(int seed, boolean chains) {
        Random random = new Random(seed);
        Random faults = new Random(seed);
        World world = World.start(policy(random), storyPlan(random));
        world.holder = "node";
        world.prices = random.nextBoolean() ? Prices.NONE : FLAT;
        for (int i = 0; i < 40 && !world.queue.isEmpty(); i++) {
            QueueItem waiting = world.queue.values().stream().filter(item -> item.holder() == null).findFirst()
                    .orElse(null);
            if (waiting != null) {
                world.claim(waiting, "node");
            }
            StepRow held = world.view.steps.values().stream().filter(StepRow::isHeld).findFirst().orElse(null);
            if (held == null) {
                return world;
            }
            report(world, held, faults, chains);
            if (world.timers.keySet().stream()
                    .anyMatch(key -> key.kind() == TimerKind.STEP_RETRY)) {
                world.nextBackoff();
            }
        }
        return world;
    }

    private static void report(World world, StepRow first, Random random, boolean chains) {
        List<StepRow> members = new ArrayList<>(List.of(first));
        members.addAll(world.chains.get(first).steps());
        List<Command.Report> reports = new ArrayList<>();
        for (StepRow step : members) {
            int epoch = step == first ? step.leaseEpoch() : step.leaseEpoch() + 1;
            boolean fails = random.nextInt(6) == 0;
            BigDecimal cost = random.nextInt(3) == 0 ? new BigDecimal("0.3") : null;
            reports.add(fails
                    ? new Command.Fail(world.id(), step.id(), epoch,
                            new StepError("BROKEN", ErrorClass.INFRASTRUCTURE, "broken"), Result.of("null"), NODE)
                    : new Command.Complete(world.id(), step.id(), epoch,
                            new Result("\"" + step.name() + "\"", Tokens.undivided(3), cost, List.of()), NODE));
            if (fails) {
                break;
            }
        }
        if (random.nextInt(4) == 0) {
            world.send(new Command.Pause(world.id(), null, World.WHO));
        }
        if (chains) {
            world.send(chain(world, reports, false));
        } else {
            reports.forEach(world::send);
        }
        world.send(new Command.Resume(world.id(), World.WHO));
    }

    private static RunPolicy policy(Random random) {
        return random.nextInt(3) == 0 ? budget(limited("2")) : RunPolicy.DEFAULT;
    }

    private static Plan storyPlan(Random random) {
        List<Plans.T> tasks = new ArrayList<>();
        for (int t = 0; t < 1 + random.nextInt(3); t++) {
            Plans.T task = task("t" + t);
            for (int s = 0; s < 1 + random.nextInt(8); s++) {
                task.step("s" + s, random.nextInt(9) == 0 ? StepKind.APPROVAL : StepKind.TOOL);
            }
            tasks.add(task);
        }
        return plan(tasks);
    }
}
