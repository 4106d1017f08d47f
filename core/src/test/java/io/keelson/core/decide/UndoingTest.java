package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.plan.UndoPlan;
import io.keelson.core.plan.UndoRules;
import io.keelson.core.plan.Undoes;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Command.Resolution;
import io.keelson.core.run.Explanation;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Undoing an ended run, and the tickets of the run that undoes it. */
class UndoingTest extends OneRun {
    private static final UUID OTHER = new UUID(7, 7);
    private static final RunPolicy ON_FAILURE = RunPolicy.DEFAULT.with(new UndoRules(true, false, null));
    private static final RunPolicy UNDO = rules().run(FailureMode.CONTINUE).agent(FailureMode.CONTINUE).policy()
            .with(new UndoRules(false, false, OTHER));

    @Test
    void failedRunIsUndoneOnce() {
        world = World.start(ON_FAILURE, plan(task("a"), task("b").on("a").retry(RetryPolicy.NONE)));
        world.complete(world.claim("a"));
        world.fail(world.claim("b"), ErrorClass.PERMANENT);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.undo().state()).isEqualTo(UndoRow.State.REQUESTED);
        assertThat(world.send(undo())).isEqualTo(Reply.UNCHANGED);
        assertThat(world.refused(new Command.Retry(world.id(), false, World.WHO)).code()).isEqualTo("RUN_UNDONE");
        world.answer(world.evaluations.getLast(), new Evaluation.Undoes(run()));
        assertThat(world.view.undo()).extracting(UndoRow::state, UndoRow::undoRun, UndoRow::tasks)
                .containsExactly(UndoRow.State.RUNNING, OTHER, 1);
        world.send(new Command.Evaluated(world.id(), TimerKind.EVALUATE_UNDO, world.id(), new Evaluation.Undoes(run()),
                Actor.SYSTEM));
        assertThat(world.events("run_undo_started")).hasSize(1);
        is(RunState.COMPLETED, new Evaluation.UndoCounts(1, 0, 0, 0));
        assertThat(world.view.undo().state()).isEqualTo(UndoRow.State.UNDONE);
        assertThat(world.events("run_undo_ended")).hasSize(1);
        assertThat(world.send(undo())).isEqualTo(Reply.UNCHANGED);
    }

    @Test
    void refusalOfAFailedRunNamesThePossibleActionsOnly() {
        world = World.start(plan(task("a").retry(RetryPolicy.NONE)));
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        assertThat(possible()).containsExactly("retry", "undo");
        world.send(undo());
        assertThat(possible()).as("undone").isEmpty();
        world.answer(world.evaluations.getLast(), new Evaluation.Undoes(null));
        assertThat(possible()).as("there was nothing to undo").containsExactly("retry");

        world = World.start(RunPolicy.DEFAULT.with(new UndoRules(false, false, OTHER)),
                plan(task("a").retry(RetryPolicy.NONE)));
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(possible()).as("an undo").containsExactly("retry");
    }

    private List<String> possible() {
        return world.refused(new Command.Pause(world.id(), null, World.WHO)).allowed();
    }

    @Test
    void openRunIsNotUndone() {
        world = World.start(plan(task("a")));
        assertThat(world.refused(undo()).code()).isEqualTo("INVALID_STATE_TRANSITION");
    }

    @Test
    void runThatStartsOverIsNotUndone() {
        world = World.start(rules().run(FailureMode.RETRY).policy().with(new UndoRules(true, false, null)),
                plan(task("a").retry(RetryPolicy.NONE)));
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        assertThat(world.state()).isEqualTo(RunState.RETRYING);
        assertThat(world.view.undo()).isNull();
    }

    @Test
    void cancelledRunIsUndoneIfItsRulesSaySo() {
        world = World.start(RunPolicy.DEFAULT.with(new UndoRules(false, true, null)), plan(task("a").steps(2)));
        world.complete(world.claim("a"));
        world.done(new Command.Cancel(world.id(), null, World.WHO));
        assertThat(world.view.undo().state()).isEqualTo(UndoRow.State.REQUESTED);
        world.answer(world.evaluations.getLast(), new Evaluation.Undoes(null));
        assertThat(world.view.undo().state()).isEqualTo(UndoRow.State.NOTHING);
    }

    @Test
    void undoIsNotUndoneAndNotStartedOver() {
        world = World.start(UNDO, plan(undoing("x")));
        world.done(new Command.FailRun(world.id(), null, World.WHO));
        assertThat(world.elsewhere).anyMatch(asked -> asked.kind() == TimerKind.EVALUATE_UNDO
                && asked.runId().equals(OTHER));
        assertThat(world.refused(undo()).code()).isEqualTo("UNDO_OF_UNDO");
        assertThat(world.refused(new Command.Retry(world.id(), true, World.WHO)).code()).isEqualTo("UNDO_FROM_START");
        world.done(new Command.Retry(world.id(), false, World.WHO));
    }

    @Test
    void failedTaskOfAnUndoWaitsWhileTheOthersContinue() {
        world = World.start(UNDO, plan(undoing("x"), undoing("y"), undoing("z").on("y")));
        world.fail(world.claim("x"), ErrorClass.PERMANENT);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(world.view.tickets).hasSize(1);
        world.complete(world.claim("y"));
        world.complete(world.claim("z"));
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
        world.resolve(world.ticket(), Resolution.RESUME);
        world.complete(world.claim("x"));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void answeredTicketContinuesWhileAnotherWaits() {
        world = World.start(UNDO, plan(undoing("x"), undoing("y")));
        world.fail(world.claim("x"), ErrorClass.PERMANENT);
        TicketRow first = world.ticket();
        world.fail(world.claim("y"), ErrorClass.PERMANENT);
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
        world.resolve(first, Resolution.RESUME);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.complete(world.claim("x"));
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
        world.resolve(world.ticket(), Resolution.DONE);
        assertThat(world.task("y")).extracting(TaskRow::state, TaskRow::errorCode)
                .containsExactly(TaskState.SKIPPED, "DONE_BY_HAND");
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @ParameterizedTest
    @EnumSource(names = {"SKIP", "RESUME"})
    void ticketIsAnsweredWhileOthersAreAtWork(Resolution answer) {
        world = World.start(UNDO, plan(undoing("x"), undoing("y")));
        StepRow other = world.claim("y");
        world.fail(world.claim("x"), ErrorClass.PERMANENT);
        world.resolve(world.ticket(), answer);
        if (answer == Resolution.RESUME) {
            world.complete(world.claim("x"));
        } else {
            assertThat(world.task("x").errorCode()).isEqualTo("NOT_UNDONE");
        }
        world.complete(other);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @ParameterizedTest
    @EnumSource(names = {"FAILED", "COMPLETED"})
    void personIsAskedAboutWorkWithAnUnknownOutcome(StepState end) {
        Plans.T asked = task("x").step(UndoPlan.QUESTION, StepKind.APPROVAL).retry(RetryPolicy.NONE).steps(1)
                .policy(TaskPolicy.DEFAULT.undoing(new Undoes(OTHER, "x", null)));
        world = World.start(UNDO, plan(asked, undoing("y").on("x")));
        world.answer(world.evaluations.getLast(), new Evaluation.Opened("{}", null, null));
        UUID question = world.step("x", UndoPlan.QUESTION).id();
        boolean done = end == StepState.COMPLETED;
        world.done(new Command.DecideStep(world.id(), question, done, null, World.WHO));
        assertThat(world.send(new Command.DecideStep(world.id(), question, done, null, World.WHO)))
                .isEqualTo(Reply.UNCHANGED);
        if (done) {
            world.complete(world.claim("x"));
        } else {
            assertThat(world.task("x")).extracting(TaskRow::state, TaskRow::errorCode)
                    .containsExactly(TaskState.SKIPPED, "NOT_DONE");
        }
        world.complete(world.claim("y"));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void lostWorkersOfAnUndoAskAPerson() {
        world = World.start(UNDO, plan(undoing("x")));
        for (int i = 0; i < UNDO.maxDeliveries(); i++) {
            world.expire(world.claim("x"));
        }
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
        world.resolve(world.ticket(), Resolution.RESUME);
        world.complete(world.claim("x"));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void explanationTellsTheProgressOfTheUndo() {
        world = World.start(ON_FAILURE, plan(task("a"), task("b").on("a").retry(RetryPolicy.NONE)));
        world.complete(world.claim("a"));
        world.fail(world.claim("b"), ErrorClass.PERMANENT);
        assertThat(undoReason()).extracting(Explanation::text, Explanation::on)
                .containsExactly("it is to be undone: the run that undoes it is being made", List.of());
        world.answer(world.evaluations.getLast(), new Evaluation.Undoes(run()));
        assertThat(undoReason()).extracting(Explanation::text, Explanation::on)
                .containsExactly("run " + OTHER + " undoes it at present, in 1 task", List.of(OTHER.toString()));
        is(RunState.FAILED, new Evaluation.UndoCounts(0, 0, 0, 1));
        assertThat(undoReason().text()).contains("`keelson retry " + OTHER + "` continues it");
        is(RunState.COMPLETED, new Evaluation.UndoCounts(0, 1, 0, 0));
        assertThat(undoReason().text()).isEqualTo("run " + OTHER
                + " has undone it (0 of 1 tasks undone, 1 done by hand, 0 never done, 0 not undone)");
    }

    @Test
    void explanationOfARunningUndoNamesItsTicketsFirst() {
        world = World.start(UNDO, plan(undoing("w"), undoing("x")));
        world.fail(world.claim("x"), ErrorClass.PERMANENT);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        Explanation first = Explain.run(world.view, new ExplainTest().around).getFirst();
        assertThat(first).extracting(Explanation::code, Explanation::on)
                .containsExactly("TICKET_OPEN", List.of(world.ticket().id().toString()));
        assertThat(first.text()).endsWith("; the other tasks of the undo continue");
        world.complete(world.claim("w"));
        assertThat(Explain.run(world.view, new ExplainTest().around)).singleElement()
                .extracting(Explanation::text).asString().doesNotContain("continue");
    }

    private Explanation undoReason() {
        return Explain.run(world.view, new ExplainTest().around).stream()
                .filter(reason -> reason.code().equals("UNDO")).findFirst().orElseThrow();
    }

    @Test
    void ticketsOfOtherRunsAreNotAnsweredAsDone() {
        world = World.start(rules().escalation(Rules.ASK).policy(), plan(task("a").retry(Plans.ONCE)));
        world.exhaustStep("a");
        assertThat(world.refused(new Command.Resolve(world.id(), world.ticket().id(), Resolution.DONE, null, World.WHO))
                .code()).isEqualTo("NOT_AN_UNDO");
    }

    private Command undo() {
        return new Command.Undo(world.id(), null, World.WHO);
    }

    private void is(RunState state, Evaluation.UndoCounts counts) {
        world.send(new Command.Evaluated(world.id(), TimerKind.EVALUATE_UNDO, world.id(),
                new Evaluation.UndoIs(state, counts, null), Actor.SYSTEM));
    }

    private static Plans.T undoing(String id) {
        return task(id)
                .step(new StepSpec("back", StepKind.TOOL, "noop", "{}", RetryPolicy.NONE, Duration.ofSeconds(30)))
                .rule(TriggerRule.ALL_DONE).policy(TaskPolicy.DEFAULT.undoing(new Undoes(OTHER, id, null)));
    }

    private static NewRun run() {
        Plan plan = plan(undoing("undo.a"));
        return new NewRun(OTHER, World.WORKSPACE, "undo", null, "goal", plan, "{}", "{}", UNDO, "{}", "[]", null, 100,
                "undo", null, null, "ann");
    }
}
