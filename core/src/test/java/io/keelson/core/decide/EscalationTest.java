package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.ASK;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.TicketRow.Severity;
import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.HumanRules;
import io.keelson.core.plan.HumanRules.OnTimeout;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Resolution;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tickets: when they open, what they hold up, and what their answers do. */
class EscalationTest {
    private static final RunPolicy ASKING = rules().escalation(ASK).policy();
    private World world;

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    @Test
    void aTicketHoldsTheRunUpAndKeepsAllState() {
        world = World.start(ASKING, plan(task("a").retry(Plans.ONCE).steps(1), task("b").steps(2), task("c")));
        StepRow inFlight = world.claim("b");
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
        TicketRow ticket = world.ticket();
        assertThat(ticket.reason()).isEqualTo("attempt_budget_exhausted");
        assertThat(ticket.errorCode()).isEqualTo("BROKEN");
        assertThat(ticket.severity()).isEqualTo(Severity.HIGH);
        assertThat(ticket.stepId()).isEqualTo(world.step("a", "s1").id());
        assertThat(ticket.message()).contains("a/s1").contains("broken");
        assertThat(world.step("a", "s1").parked()).isTrue();
        assertThat(world.view.agents()).allMatch(agent -> agent.state() == AgentState.PAUSED);
        assertThat(world.queue.values()).as("nothing new is dispatched").allMatch(item -> item.holder() != null);
        world.complete(inFlight);
        assertThat(world.step("b", "s1").state()).as("what is in flight is recorded").isEqualTo(StepState.COMPLETED);
        assertThat(world.last("step_retrying").members()).containsEntry("reason", "attempt_budget_exhausted")
                .doesNotContainKey("retry_after_seconds");
    }

    @ParameterizedTest(name = "{0}: run {1}, task {2}, step {3}")
    @CsvSource({"RESUME, running, running, running", "SKIP, completed, skipped, skipped",
            "FAIL, failed, cancelled, cancelled", "CANCEL, cancelled, cancelled, cancelled"})
    void answersAboutAStep(Resolution answer, String run, String task, String step) {
        world = World.start(ASKING, plan(task("a").retry(Plans.ONCE).steps(1), task("b")));
        world.complete(world.claim("b"));
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        TicketRow ticket = world.ticket();
        world.resolve(ticket, answer);
        world.claimAll();
        assertThat(world.state().wire()).isEqualTo(run);
        assertThat(world.task("a").state().wire()).isEqualTo(task);
        assertThat(world.step("a", "s1").state().wire()).isEqualTo(step);
        assertThat(ticket.resolution()).isEqualTo(answer.wire());
        assertThat(ticket.resolvedBy()).isEqualTo("ann");
        assertThat(ticket.resolvedAt()).isEqualTo(world.now);
        assertThat(world.refused(new Command.Resolve(world.id(), ticket.id(), answer, null, World.WHO)).code())
                .isEqualTo("TICKET_NOT_OPEN");
    }

    @ParameterizedTest(name = "{0}: run {1}, task {2}")
    @CsvSource({"RESUME, running, running", "SKIP, skipped, skipped", "FAIL, failed, cancelled",
            "CANCEL, cancelled, cancelled"})
    void answersAboutATask(Resolution answer, String run, String task) {
        world = World.start(ASKING, plan(task("a").taskRetry(Plans.ONCE).verify("v")));
        world.complete(world.claim("a"));
        StepRow verifier = world.claim("a");
        world.verdict(verifier, Verdict.Outcome.REJECTED);
        assertThat(world.task("a").parked()).isTrue();
        assertThat(world.ticket().stepId()).isNull();
        assertThat(world.ticket().severity()).isEqualTo(Severity.HIGH);
        world.resolve(world.ticket(), answer);
        world.claimAll();
        assertThat(world.state().wire()).isEqualTo(run);
        assertThat(world.task("a").state().wire()).isEqualTo(task);
    }

    /** Two tickets are about one failure, one is about another. */
    private List<TicketRow> threeTickets(boolean alike) {
        world = World.start(ASKING, plan(task("a").retry(Plans.ONCE).steps(1), task("b").retry(Plans.ONCE).steps(1),
                task("c").retry(Plans.ONCE).steps(1)));
        List<StepRow> steps = List.of(world.claim("a"), world.claim("b"), world.claim("c"));
        for (StepRow step : steps) {
            world.done(new Command.Fail(world.id(), step.id(), step.leaseEpoch(),
                    new StepError("BROKEN", ErrorClass.INFRASTRUCTURE, "broken")
                            .of(alike || step != steps.getLast() ? "model:small" : "model:other"),
                    Result.of("null"), World.WHO));
        }
        return List.copyOf(world.view.tickets());
    }

    @Test
    void oneAnswerIsGivenToAllTicketsOfOneFailure() {
        List<TicketRow> tickets = threeTickets(false);
        world.done(
                new Command.Resolve(world.id(), tickets.getFirst().id(), Resolution.SKIP, "useless", true, World.WHO));
        assertThat(tickets).extracting(TicketRow::resolution).containsExactly("skip", "skip", null);
        assertThat(tickets).extracting(TicketRow::comment).containsExactly("useless", "useless", null);
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
    }

    @Test
    void anAnswerThatEndsTheRunVoidsTheOthers() {
        List<TicketRow> tickets = threeTickets(true);
        world.done(new Command.Resolve(world.id(), tickets.getFirst().id(), Resolution.FAIL, null, true, World.WHO));
        assertThat(tickets).extracting(TicketRow::resolution).containsExactly("fail", "void", "void");
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void aResumeOfTheRunAnswersAllTicketsAboutFailures() {
        List<TicketRow> tickets = threeTickets(false);
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(tickets).allMatch(ticket -> "resume".equals(ticket.resolution()));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aResumeForgivesTheFailures() {
        world = World.start(ASKING, plan(task("a")));
        world.exhaustStep("a");
        world.resolve(world.ticket(), Resolution.RESUME);
        assertThat(world.step("a", "s1").failures()).isZero();
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        assertThat(world.last("step_retrying").members()).containsEntry("reason", "retry_scheduled")
                .containsEntry("attempts", 1).containsEntry("failures", 1).containsEntry("remaining_attempts", 2);
        assertThat(world.step("a", "s1").attempt()).as("the attempt itself never falls").isEqualTo(4);
    }

    @Test
    void resumeRestartsTheRetryTimer() {
        world = World.start(ASKING, plan(task("a").retry(new RetryPolicy(9, 9,
                Duration.ofSeconds(10), Duration.ofSeconds(10), 1, 0, Duration.ofSeconds(15))).steps(1)));
        world.exhaustStep("a");
        assertThat(world.ticket().reason()).isEqualTo("retry_time_exhausted");
        world.resolve(world.ticket(), Resolution.RESUME);
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        assertThat(world.last("step_retrying").members()).containsEntry("reason", "retry_scheduled");
    }

    @Test
    void moreThanFiveErrorsWithinFiveMinutesAskAHuman() {
        world = World.start(rules().escalation(EscalationPolicy.DEFAULT).policy(), plan(many()));
        List<StepRow> steps = world.claimAll();
        steps.subList(0, 5).forEach(step -> world.fail(step, ErrorClass.INFRASTRUCTURE));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.fail(steps.get(5), ErrorClass.INFRASTRUCTURE);
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
        assertThat(world.ticket().reason()).isEqualTo("error_count_exceeded");
        assertThat(world.ticket().message()).endsWith("; more than 5 errors of a run within 300 s ask a person "
                + "(config.escalation)");
        assertThat(Explain.run(world.view, new ExplainTest().around).getFirst().text())
                .isEqualTo(world.ticket().message());
    }

    @Test
    void resumeForgivesTheErrorsThatEscalatedTheRun() {
        world = World.start(rules().escalation(EscalationPolicy.DEFAULT).policy(), plan(many()));
        List<StepRow> steps = world.claimAll();
        steps.subList(0, 6).forEach(step -> world.fail(step, ErrorClass.INFRASTRUCTURE));
        world.now = world.now.plusSeconds(1);
        world.resolve(world.ticket(), Resolution.RESUME);
        world.now = world.now.plusSeconds(1);
        steps.subList(6, 11).forEach(step -> world.fail(step, ErrorClass.INFRASTRUCTURE));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.fail(steps.get(11), ErrorClass.INFRASTRUCTURE);
        assertThat(world.ticket().reason()).isEqualTo("error_count_exceeded");
    }

    @Test
    void errorsOlderThanTheWindowCountNoLonger() {
        world = World.start(rules().escalation(EscalationPolicy.DEFAULT).policy(), plan(many()));
        List<StepRow> steps = world.claimAll();
        steps.subList(0, 5).forEach(step -> world.fail(step, ErrorClass.INFRASTRUCTURE));
        world.now = world.now.plusSeconds(302);
        world.fail(steps.get(5), ErrorClass.INFRASTRUCTURE);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void moreThanHalfOfTenCallsFailedAsksAHuman() {
        world = World.start(rules().escalation(new EscalationPolicy(true, false, Duration.ofSeconds(300), 1_000, 0.5))
                .policy(), plan(many()));
        List<StepRow> steps = world.claimAll();
        steps.subList(0, 4).forEach(world::complete);
        steps.subList(4, 9).forEach(step -> world.fail(step, ErrorClass.INFRASTRUCTURE));
        assertThat(world.state()).as("nine calls say nothing").isEqualTo(RunState.RUNNING);
        world.fail(steps.get(9), ErrorClass.INFRASTRUCTURE);
        assertThat(world.ticket().reason()).isEqualTo("error_rate_exceeded");
    }

    private static List<Plans.T> many() {
        return IntStream.range(0, 12).mapToObj(i -> task("t" + i)).toList();
    }

    @Test
    void runWithoutEscalationContinuesOnAnyError() {
        world = World.start(rules().escalation(EscalationPolicy.OFF).policy(), plan(many()));
        world.claimAll().forEach(step -> world.fail(step, ErrorClass.INFRASTRUCTURE));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(world.view.tickets()).isEmpty();
    }

    @Test
    void poisonAsksAHumanWhereExhaustionDoes() {
        world = World.start(ASKING, plan(task("a")));
        for (int i = 0; i < 10; i++) {
            world.expire(world.claim("a"));
        }
        assertThat(world.ticket().errorCode()).isEqualTo("WORKER_HEARTBEAT_TIMEOUT");
        world.resolve(world.ticket(), Resolution.RESUME);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void theRunResumesWhenTheLastTicketIsAnswered() {
        world = World.start(ASKING, plan(task("a").retry(Plans.ONCE).steps(1), task("b").retry(Plans.ONCE).steps(1)));
        world.claimAll().forEach(step -> world.fail(step, ErrorClass.INFRASTRUCTURE));
        List<TicketRow> tickets = List.copyOf(world.view.tickets());
        assertThat(tickets).hasSize(2);
        world.resolve(tickets.getFirst(), Resolution.RESUME);
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
        assertThat(world.queue).isEmpty();
        world.resolve(tickets.getLast(), Resolution.SKIP);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.work();
        assertThat(world.taskStates()).containsEntry("a", TaskState.COMPLETED).containsEntry("b", TaskState.SKIPPED);
    }

    @Test
    void aTicketOfAPausedRunHoldsItUpWhenItResumes() {
        world = World.start(ASKING, plan(task("a").retry(Plans.ONCE).steps(1)));
        StepRow step = world.claim("a");
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.fail(step, ErrorClass.INFRASTRUCTURE);
        assertThat(world.state()).isEqualTo(RunState.PAUSED);
        assertThat(world.view.tickets()).hasSize(1);
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
        world.done(new Command.Resume(world.id(), World.WHO));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aTicketAnsweredDuringAPauseLeavesTheRunPaused() {
        world = World.start(ASKING, plan(task("a").retry(Plans.ONCE).steps(1)));
        StepRow step = world.claim("a");
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.fail(step, ErrorClass.INFRASTRUCTURE);
        world.resolve(world.ticket(), Resolution.RESUME);
        assertThat(world.state()).isEqualTo(RunState.PAUSED);
        world.done(new Command.Resume(world.id(), World.WHO));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aTicketIsVoidWhenItsTaskGoes() {
        world = World.start(ASKING, plan(task("a").retry(Plans.ONCE).steps(1), task("b")));
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        TicketRow ticket = world.ticket();
        world.done(new Command.CancelTask(world.id(), world.task("a").id(), null, World.WHO));
        assertThat(ticket.resolution()).isEqualTo("void");
        assertThat(world.state()).as("nothing holds it up any more").isEqualTo(RunState.RUNNING);
        assertThat(world.timers.keySet()).noneMatch(key -> key.subject().equals(ticket.id()));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aTicketIsVoidWhenItsTaskFailsByAnotherStep() {
        world = World.start(ASKING, plan(task("a").parallel().retry(Plans.ONCE).steps(2)));
        List<StepRow> steps = world.claimAll();
        world.fail(steps.getFirst(), ErrorClass.INFRASTRUCTURE);
        TicketRow ticket = world.ticket();
        world.fail(steps.getLast(), ErrorClass.PERMANENT);
        assertThat(ticket.resolution()).isEqualTo("void");
        assertThat(world.state()).as("as without escalation").isEqualTo(RunState.FAILED);
        assertThat(world.view.run().reserved()).isZero();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({"REJECTED, awaiting_retry", "UNSURE, awaiting_human"})
    void aTicketAboutAVerifierIsVoidWhenAnotherOneDecides(Verdict.Outcome verdict, String task) {
        world = World.start(ASKING, plan(task("a").parallel().retry(Plans.ONCE).steps(1).verify("v1", "v2")));
        world.complete(world.claim("a"));
        List<StepRow> verifiers = world.claimAll();
        world.fail(verifiers.getFirst(), ErrorClass.INFRASTRUCTURE);
        TicketRow ticket = world.ticket();
        world.verdict(verifiers.getLast(), verdict);
        assertThat(ticket.resolution()).isEqualTo("void");
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(world.task("a").state().wire()).isEqualTo(task);
    }

    @Test
    void aTicketIsVoidWhenTheRunEnds() {
        world = World.start(ASKING, plan(task("a").retry(Plans.ONCE).steps(1)));
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        TicketRow ticket = world.ticket();
        world.done(new Command.Cancel(world.id(), null, World.WHO));
        assertThat(ticket.resolution()).isEqualTo("void");
        assertThat(world.view.tickets()).isEmpty();
    }

    @Test
    void anUnansweredTicketRaisesItsSeverityAndRemindsAgain() {
        world = World.start(ASKING.with(new HumanRules(false, Duration.ofHours(24), OnTimeout.REMIND)),
                plan(task("a").retry(Plans.ONCE).step("t", StepKind.TOOL)));
        world.fail(world.claim("a"), ErrorClass.QUALITY);
        UUID id = world.ticket().id();
        for (Severity severity : List.of(Severity.CRITICAL, Severity.CRITICAL, Severity.CRITICAL)) {
            assertThat(Duration.between(world.now, world.due(TimerKind.HUMAN, id))).isEqualTo(Duration.ofHours(24));
            world.deliver(TimerKind.HUMAN, id);
            assertThat(world.ticket().severity()).isEqualTo(severity);
        }
        assertThat(world.events("escalation_reminded")).hasSize(3);
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({"FAIL, failed", "APPROVE, running"})
    void unansweredTicketTimesOutOnlyWhereConfigured(OnTimeout rule, String state) {
        world = World.start(ASKING.with(new HumanRules(false, Duration.ofHours(24), rule)),
                plan(task("a").retry(Plans.ONCE).steps(1)));
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        world.deliver(TimerKind.HUMAN, world.ticket().id());
        assertThat(world.state().wire()).isEqualTo(state);
    }

    @Test
    void theTimeUnderATicketCountsForNoTimeout() {
        world = World.start(ASKING, plan(task("a").retry(Plans.ONCE).steps(1), task("b")));
        world.claim("b");
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        world.watchUntil(world.now.plus(Duration.ofDays(3)));
        world.resolve(world.ticket(), Resolution.RESUME);
        world.watchUntil(world.now.plus(Duration.ofMinutes(4)));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(world.task("b").state()).isEqualTo(TaskState.RUNNING);
    }
}
