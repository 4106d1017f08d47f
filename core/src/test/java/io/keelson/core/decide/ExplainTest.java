package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.money.Prices;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Concurrency;
import io.keelson.core.plan.Flow;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.Rate;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Command;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.Explanation;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.VersionRule;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExplainTest {
    private static final EscalationPolicy ASKED = new EscalationPolicy(true, true, Duration.ofSeconds(300), 5, 0.5);
    private static final Instant LATER = Instant.parse("2026-01-01T00:00:30Z");

    private static final UUID AHEAD = UUID.fromString("00000000-0000-7000-8000-0000000000aa");

    private @Nullable String full;
    private @Nullable VersionRule rule;
    private Explain.@Nullable Pause paused;
    Prices prices = Prices.NONE;

    final Explain.Surroundings around = new Explain.Surroundings() {
        @Override
        public boolean isServed(String tool) {
            return !tool.equals("noop");
        }

        @Override
        public boolean isServed(String tool, String version) {
            return version.equals("1.0");
        }

        @Override
        public @Nullable VersionRule version(String tool) {
            return rule;
        }

        @Override
        public @Nullable Instant leaseUntil(ChangeSet.Lane lane) {
            return LATER;
        }

        @Override
        public @Nullable String full(String tool, String input, @Nullable String agent) {
            return full;
        }

        @Override
        public @Nullable String label(UUID task) {
            return null;
        }

        @Override
        public String chosen(UUID task) {
            return "else";
        }

        @Override
        public @Nullable String question(UUID step) {
            return "Ship it?";
        }

        @Override
        public int questions(UUID undoRun) {
            return 0;
        }

        @Override
        public @Nullable Instant due(TimerKind kind, UUID subject) {
            return kind == TimerKind.HUMAN ? LATER : null;
        }

        @Override
        public Explain.@Nullable Pause paused(UUID run) {
            return paused;
        }

        @Override
        public List<UUID> atWork(String key) {
            return key.equals("prod") ? List.of(AHEAD) : List.of();
        }

        @Override
        public @Nullable Instant turn(UUID run) {
            return LATER;
        }

        @Override
        public Prices prices() {
            return prices;
        }
    };

    @Test
    void aSignal() {
        World world = World.start(plan(task("a").step("paid", StepKind.SIGNAL)));
        world.answer(world.evaluations.getFirst(),
                new Command.Evaluation.Awaits("{}", "paid", Duration.ofSeconds(30), false));
        Explanation why = Explain.run(world.view, around).getFirst();
        assertThat(why.code()).isEqualTo("SIGNAL");
        assertThat(why.on()).containsExactly("paid");
        assertThat(why.until()).isEqualTo(LATER);
    }

    @Test
    void branchWithItsConditionIsNamed() {
        Flow.Branch bug = new Flow.Branch("bug", "${ .inputs.bug }");
        TaskPolicy choice = TaskPolicy.DEFAULT
                .at(new Flow("route", null, List.of(bug, new Flow.Branch("else", null)), List.of()));
        TaskPolicy inside = TaskPolicy.DEFAULT
                .at(new Flow(null, null, List.of(), List.of(new Flow.Place("route", "bug"))));
        World world = World.start(plan(task("route.switch").policy(choice),
                task("fix").on("route.switch").when("${ true }").policy(inside), task("route").on("fix")));
        assertThat(Explain.task(world.view, world.task("fix"), around).getLast().text())
                .isEqualTo("task 'fix': it is in"
                        + " branch 'bug' of switch 'route', done if ${ .inputs.bug }; switch 'route' has not chosen a branch");

        world.claimAll().forEach(world::complete);
        world.answer(world.evaluations.getLast(), new Command.Evaluation.Skip());
        Explanation skipped = Explain.task(world.view, world.task("fix"), around).getLast();
        assertThat(skipped.code()).isEqualTo("BRANCH_NOT_CHOSEN");
        assertThat(skipped.text()).endsWith("; switch 'route' chose branch 'else', done if no condition holds");
        assertThat(skipped.on()).containsExactly("route.switch");
        assertThat(Explain.task(world.view, world.task("route"), around).getLast().text())
                .isEqualTo("task 'route': switch 'route' chose branch 'else', done if no condition holds");
        Explanation chosen = Explain.task(world.view, world.task("route.switch"), around).getLast();
        assertThat(chosen.code()).isEqualTo("BRANCH");
    }

    @Test
    void anUpstreamAMissingWorkerAndALease() {
        World world = World.start(plan(task("a"), task("b").on("a")));
        assertThat(codes(Explain.run(world.view, around))).containsExactly("MISSING_WORKER");
        Explanation open = Explain.task(world.view, world.task("b"), around).getFirst();
        assertThat(open.code()).isEqualTo("UPSTREAM_OPEN");
        assertThat(open.on()).containsExactly("a");

        StepRow step = world.claimAll().getFirst();
        Explanation held = Explain.step(world.view, step, around).getFirst();
        assertThat(held.code()).isEqualTo("RUNNING");
        assertThat(held.until()).isEqualTo(LATER);
        assertThat(held.on()).containsExactly("w1");
    }

    @Test
    void waitOfATaskComesBeforeTheChoiceOfItsAgent() {
        AgentTerms terms = new AgentTerms(AgentTerms.ROSTER, 7, "ann", "large", List.of(), 0, List.of());
        World world = World.start(plan(task("a").policy(TaskPolicy.DEFAULT.with(terms)),
                task("b").step("ok", StepKind.APPROVAL)));
        world.answer(world.evaluations.getFirst(), new Command.Evaluation.Opened("{}", null, null));
        assertThat(codes(Explain.run(world.view, around))).containsExactly("MISSING_WORKER", "APPROVAL",
                "AGENT_CHOSEN");
        assertThat(codes(Explain.task(world.view, world.task("a"), around))).containsExactly("MISSING_WORKER",
                "AGENT_CHOSEN");
    }

    @Test
    void reasonsOfManyTasksAreLeftOutByTheirNumber() {
        World world = World.start(plan(IntStream.range(0, 103).mapToObj(i -> task("t" + i)).toList()));
        assertThat(Explain.run(world.view, around)).hasSize(100);
        assertThat(Explain.tasksLeftOut(world.view, around)).isEqualTo(3);
        world.done(new Command.Pause(world.id(), null, World.WHO));
        assertThat(Explain.tasksLeftOut(world.view, around)).as("the run itself waits").isZero();
    }

    @Test
    void waitsComeBeforeWorkInProgress() {
        World world = World.start(plan(task("a"), task("b").step("ok", StepKind.APPROVAL)));
        world.answer(world.evaluations.getFirst(), new Command.Evaluation.Opened("{}", null, null));
        world.claimAll();
        assertThat(codes(Explain.run(world.view, around))).containsExactly("APPROVAL", "RUNNING");
    }

    @Test
    void aLimitOfTheWorkspace() {
        World world = World.start(plan(task("a")));
        full = "steps=20";
        List<Explanation> reasons = Explain.run(world.view, around);
        assertThat(codes(reasons)).containsExactly("MISSING_WORKER", "WORKSPACE_LIMIT");
        assertThat(reasons.getLast().on()).containsExactly("steps=20");
        world.claimAll();
        assertThat(codes(Explain.run(world.view, around))).containsExactly("RUNNING");
    }

    @Test
    void aConcurrencyKey() {
        World world = World.start(RunPolicy.DEFAULT.with(new Concurrency("prod", 2, null)), plan(task("a")));
        Explanation reason = Explain.run(world.view, around).getFirst();
        assertThat(reason.code()).isEqualTo("CONCURRENCY_KEY");
        assertThat(reason.text()).isEqualTo("it waits for its turn: at most 2 runs with the concurrency key 'prod'"
                + " may be at work, and others came first");
        assertThat(reason.on()).containsExactly("prod", AHEAD.toString());
    }

    @Test
    void aRateOfAConcurrencyKey() {
        World world = World.start(RunPolicy.DEFAULT.with(new Concurrency("prod", 100, new Rate(5, 3600))),
                plan(task("a")));
        Explanation reason = Explain.run(world.view, around).getFirst();
        assertThat(reason.code()).isEqualTo("CONCURRENCY_KEY");
        assertThat(reason.text()).isEqualTo("it waits for its turn: at most 5 runs with the concurrency key 'prod'"
                + " begin in 3600 s, and by those before it, it begins at " + LATER + " at the earliest");
        assertThat(reason.until()).isEqualTo(LATER);
        assertThat(reason.on()).containsExactly("prod");
    }

    @Test
    void backoffApprovalTimerAndEarlierStep() {
        World world = World.start(plan(task("a").steps(2), task("b").step("ok", StepKind.APPROVAL)));
        world.answer(world.evaluations.getFirst(), new Command.Evaluation.Opened("{}", null, null));
        StepRow first = world.claimAll().getFirst();
        assertThat(codes(Explain.step(world.view, world.step("a", "s2"), around))).containsExactly("EARLIER_STEP");
        world.fail(first, ErrorClass.INFRASTRUCTURE);
        assertThat(codes(Explain.run(world.view, around))).containsExactly("STEP_BACKOFF", "APPROVAL");
        assertThat(Explain.run(world.view, around).getLast().text()).endsWith("a person has to decide: Ship it?");
        Explanation backoff = Explain.step(world.view, first, around).getFirst();
        assertThat(backoff.until()).isEqualTo(first.nextRunAt());
        assertThat(backoff.text()).contains("backoff before attempt 2 of 3: ");
    }

    @ParameterizedTest
    @CsvSource({"model:small, MODEL_BUSY", "crm, DEFERRED", ", DEFERRED"})
    void deferral(String busy, String code) {
        World world = World.start(plan(task("a")));
        StepRow step = world.claim("a");
        world.done(new Command.Release(world.id(), step.id(), 1, new Deferral(Duration.ofSeconds(7), busy,
                new StepError("BUSY", ErrorClass.INFRASTRUCTURE, "busy")), World.WHO));
        assertThat(codes(Explain.run(world.view, around))).containsExactly(code);
        Explanation reason = Explain.step(world.view, step, around).getFirst();
        assertThat(reason.until()).isEqualTo(world.now.plusSeconds(7));
        world.deliver(TimerKind.STEP_RETRY, step.id());
        assertThat(codes(Explain.step(world.view, step, around))).containsExactly("MISSING_WORKER");
    }

    @Test
    void limitsOfAgentsTasksAndSteps() {
        RunPolicy tight = new RunPolicy(false, 3, 1, 1, 1, 1, false, 10, 10, 100);
        World world = World.start(tight, plan(task("a").agent("x").parallel().steps(2), task("b").agent("x"),
                task("c").agent("y")));
        assertThat(codes(Explain.task(world.view, world.task("b"), around))).containsExactly("TASKS_LIMIT");
        assertThat(codes(Explain.task(world.view, world.task("c"), around))).containsExactly("AGENTS_LIMIT");
        world.claimAll();
        assertThat(codes(Explain.step(world.view, world.step("a", "s2"), around))).containsExactly("STEPS_LIMIT");
    }

    @Test
    void reasonsForTheWholeRunComeFirst() {
        World world = World.start(RunPolicy.DEFAULT.withApprovePlan(true), plan(task("a")));
        assertThat(Explain.run(world.view, around)).singleElement().satisfies(reason -> {
            assertThat(reason.code()).isEqualTo("PLAN_APPROVAL");
            assertThat(reason.until()).isEqualTo(LATER);
        });
        world.done(new Command.Approve(world.id(), null, World.WHO));
        world.done(new Command.Pause(world.id(), null, World.WHO));
        assertThat(codes(Explain.run(world.view, around))).containsExactly("PAUSED");
        assertThat(Explain.run(world.view, around).getFirst().text()).startsWith("the run is paused;");
        paused = new Explain.Pause("ann", null);
        assertThat(Explain.run(world.view, around).getFirst().text()).startsWith("the run was paused by ann;");
        paused = new Explain.Pause("ann", "a holiday");
        assertThat(Explain.run(world.view, around).getFirst().text())
                .startsWith("the run was paused by ann: a holiday;");
        world.done(new Command.Cancel(world.id(), null, World.WHO));
        assertThat(codes(Explain.run(world.view, around))).containsExactly("ENDED");
    }

    @Test
    void ticketsAboutOneFailureAreOneReason() {
        World world = World.start(rules().escalation(ASKED).policy(),
                plan(task("a").retry(Plans.ONCE).steps(1), task("b").retry(Plans.ONCE).steps(1)));
        List.of(world.claim("a"), world.claim("b")).forEach(step -> world.fail(step, ErrorClass.INFRASTRUCTURE));
        Explanation reason = Explain.run(world.view, around).getFirst();
        assertThat(codes(Explain.run(world.view, around))).containsExactly("TICKET_OPEN");
        assertThat(reason.text()).startsWith("2 steps or tasks failed alike, the first: step 'a/s1' failed: broken");
        assertThat(reason.on()).hasSize(2);
    }

    @Test
    void ticketThatBlocksRunAndTaskIsExplainedOnce() {
        World world = World.start(rules().escalation(ASKED).policy(), plan(task("a")));
        world.exhaustStep("a");
        assertThat(codes(Explain.run(world.view, around))).containsExactly("TICKET_OPEN");
        assertThat(codes(Explain.task(world.view, world.task("a"), around))).containsExactly("TICKET_OPEN");
        assertThat(codes(Explain.step(world.view, world.step("a", "s1"), around))).containsExactly("TICKET_OPEN");
        assertThat(Explain.run(world.view, around).getFirst().text()).startsWith("step 'a/s1' failed: ")
                .endsWith("; it was tried as often as its policy allows");
    }

    /** The wait takes 3 days; what else is at work may take as long as its time, which counts meanwhile. */
    @ParameterizedTest(name = "beside the wait: {0}, explained: {1}")
    @CsvSource(nullValues = "-", value = {"nothing, -", "work, the run", "slow, task 'b'", "agent, agent 'x'"})
    void theTimeThatRunsOutBeforeAWaitIsOverIsNamed(String beside, String first) {
        Plans.T nap = task("a").step("nap", StepKind.WAIT);
        RetryPolicy late = new RetryPolicy(3, 3, Duration.ofDays(4), Duration.ofDays(4), 2, 0);
        World world = World.start(rules().policy(), switch (beside) {
            case "nothing" -> plan(nap);
            case "work" -> plan(nap, task("b").agent("y"));
            case "agent" -> plan(nap.agent("x"), task("b").agent("x"));
            default -> plan(nap.agent("z"), task("b").retry(late).steps(1));
        });
        world.answer(world.evaluations.getFirst(), new Command.Evaluation.Opened("{}", Duration.ofDays(3), null));
        if (beside.equals("slow")) {
            world.fail(world.claim("b"), ErrorClass.INFRASTRUCTURE);
        } else if (!beside.equals("nothing")) {
            world.claim("b");
        }
        List<Explanation> deadlines = Explain.run(world.view, around).stream()
                .filter(reason -> reason.code().equals("DEADLINE")).toList();
        if (first == null) {
            assertThat(deadlines).isEmpty();
            return;
        }
        assertThat(deadlines).extracting(reason -> reason.on().getFirst()).contains(first);
        assertThat(deadlines).allSatisfy(reason -> assertThat(reason.until()).isAfter(world.now));
        assertThat(deadlines.getLast().text()).endsWith("s before that");
    }

    private static List<String> codes(List<Explanation> reasons) {
        return reasons.stream().map(Explanation::code).toList();
    }
}
