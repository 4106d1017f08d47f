package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.plan.HumanRules;
import io.keelson.core.plan.HumanRules.OnTimeout;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.DecideGate;
import io.keelson.core.run.Command.DecideTask;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Reply;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Approvals that two people have to give: who counts, for what, and until when. */
class VotesTest extends OneWorkspace {
    private static final Actor BOB = Actor.human("bob");
    private static final Duration DAY = Duration.ofHours(24);

    private World world;

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    /** The questions that an approval without an id decides. */
    enum Gate {
        PLAN, STEP, REVIEW, RESULT;

        World reached(OnTimeout rule) {
            RunPolicy two = rules().policy().with(new HumanRules(this == RESULT, DAY, rule).atLeast(2, false));
            World world = switch (this) {
                case PLAN -> World.start(two.withApprovePlan(true), plan(task("a")));
                case STEP -> World.start(two, plan(task("a").step("ok", StepKind.APPROVAL)));
                case REVIEW -> World.start(two, plan(task("a").review()));
                case RESULT -> World.start(two, plan(task("a")));
            };
            if (this == STEP) {
                world.answer(world.evaluations.getFirst(), new Evaluation.Opened("{}", null, null));
            } else if (this != PLAN) {
                world.work();
            }
            return world;
        }

        UUID subject(World world) {
            return switch (this) {
                case PLAN, RESULT -> world.id();
                case STEP -> world.step("a", "ok").id();
                case REVIEW -> world.task("a").id();
            };
        }
    }

    private Command approve(Actor who) {
        return new Command.Vote(new Command.Approve(world.id(), "by " + who.id(), who), "d", true);
    }

    @ParameterizedTest
    @EnumSource
    void secondPersonDecides(Gate gate) {
        world = gate.reached(OnTimeout.REMIND);
        RunState waiting = world.state();
        world.done(approve(World.WHO));
        assertThat(world.state()).isEqualTo(waiting);
        assertThat(world.events("approval_voted")).singleElement().satisfies(event -> assertThat(event.members())
                .containsEntry("voted_by", "ann").containsEntry("given", 1).containsEntry("required", 2)
                .containsEntry("subject", gate.subject(world).toString()).containsEntry("reason", "by ann"));
        assertThat(world.timers.keySet()).as("it still waits").anyMatch(key -> key.kind() == TimerKind.HUMAN);
        assertThat(world.refused(approve(World.WHO)).code()).as("not twice").isEqualTo("ALREADY_VOTED");

        world.done(approve(BOB));
        assertThat(world.timers.keySet()).noneMatch(key -> key.kind() == TimerKind.HUMAN);
        assertThat(world.view.votes()).isEmpty();
        assertThat(world.send(approve(BOB))).as("repeated").isEqualTo(Reply.UNCHANGED);
    }

    @ParameterizedTest
    @EnumSource
    void oneRejectionDecides(Gate gate) {
        world = gate.reached(OnTimeout.REMIND);
        world.done(approve(World.WHO));
        world.done(new Command.Vote(new Command.Reject(world.id(), "no", BOB), "d", true));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.votes()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void timeOfTheAnswerStillDecides(Gate gate) {
        world = gate.reached(OnTimeout.FAIL);
        world.done(approve(World.WHO));
        world.deliver(TimerKind.HUMAN, gate.subject(world));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.votes()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void withdrawnVoteDoesNotCount(Gate gate) {
        world = gate.reached(OnTimeout.REMIND);
        UUID subject = gate.subject(world);
        Command.WithdrawVote withdraw = new Command.WithdrawVote(world.id(), subject, World.WHO);
        assertThat(world.refused(withdraw).code()).isEqualTo("NO_VOTE");
        world.done(approve(World.WHO));
        assertThat(world.refused(new Command.WithdrawVote(world.id(), subject, BOB)).code()).isEqualTo("NO_VOTE");
        world.done(withdraw);
        assertThat(world.events("approval_vote_withdrawn")).hasSize(1);
        world.done(approve(BOB));
        assertThat(world.view.votes()).extracting(VoteRow::voter).containsExactly("bob");
        world.done(approve(World.WHO));
        assertThat(world.view.votes()).isEmpty();
    }

    @Test
    void servicesAndSharedKeysDoNotCount() {
        world = Gate.STEP.reached(OnTimeout.REMIND);
        Command.Approve plain = new Command.Approve(world.id(), null, World.WHO);
        assertThat(world.refused(plain).code()).isEqualTo("APPROVER_NOT_A_PERSON");
        assertThat(world.refused(new Command.Vote(plain, "d", false)).code()).isEqualTo("APPROVER_NOT_A_PERSON");
        assertThat(
                world.refused(new Command.Vote(new Command.Approve(world.id(), null, Actor.service("ci")), "d", true))
                        .code())
                .isEqualTo("APPROVER_NOT_A_PERSON");
    }

    @Test
    void approvalsOfDifferentContentDoNotAddUp() {
        world = Gate.STEP.reached(OnTimeout.REMIND);
        UUID step = world.step("a", "ok").id();
        world.done(new Command.Vote(new Command.DecideStep(world.id(), step, true, null, World.WHO), "x", true));
        world.done(new Command.Vote(new Command.DecideStep(world.id(), step, true, null, BOB), "y", true));
        assertThat(world.view.votes()).hasSize(2);
        world.done(new Command.Vote(new Command.DecideStep(world.id(), step, true, null, BOB), "x", true));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void taskRequiresMorePeopleThanItsRun() {
        world = World.start(rules().policy(), plan(task("a").review().approvals(2), task("b").review()));
        world.work();
        UUID one = world.task("a").id();
        world.done(new Command.Vote(new DecideTask(world.id(), one, DecideTask.Choice.APPROVE, null, null, World.WHO),
                "d", true));
        world.done(new DecideTask(world.id(), world.task("b").id(), DecideTask.Choice.APPROVE, null, null, World.WHO));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.done(new Command.Vote(new DecideTask(world.id(), one, DecideTask.Choice.APPROVE, null, null, BOB), "d",
                true));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void questionsAreNotGoneRound() {
        world = Gate.REVIEW.reached(OnTimeout.REMIND);
        UUID task = world.task("a").id();
        assertThat(world.refused(new Command.SkipTask(world.id(), task, null, World.WHO)).code())
                .isEqualTo("APPROVALS_REQUIRED");
        assertThat(world.refused(new Command.CancelTask(world.id(), task, null, World.WHO)).code())
                .isEqualTo("APPROVALS_REQUIRED");
        assertThat(world.refused(new Command.CancelAgent(world.id(), 1, null, World.WHO)).code())
                .isEqualTo("APPROVALS_REQUIRED");
        world.done(new Command.Cancel(world.id(), null, World.WHO));
    }

    @Test
    void differentLimitsAreDifferentApprovals() {
        world = run("10", budget(limited("0.5")).with(HumanRules.DEFAULT.atLeast(2, false)), steps(2));
        step(world, "0.5");
        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        world.done(raise(World.WHO, 5));
        world.done(raise(BOB, 7));
        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        world.done(raise(World.WHO, 7));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(world.view.run().hardLimit()).isEqualByComparingTo("7");
        assertThat(world.view.votes()).isEmpty();
    }

    private Command raise(Actor who, int limit) {
        return new Command.Vote(new DecideGate(world.id(), DecideGate.Gate.BUDGET, true, BigDecimal.valueOf(limit),
                Map.of(), null, who), "limit " + limit, true);
    }
}
