package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Prices.Cost;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryReason;
import io.keelson.core.run.Command;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.LostAnswer;
import io.keelson.core.run.NewArtifact;
import io.keelson.core.run.NextStepRequest;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.TurnAnswer;
import io.keelson.core.run.Verdict;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Applies the reports of lease holders to the step and its task. */
final class Steps {
    private static final Result NOTHING = Result.spent(Tokens.NONE, BigDecimal.ZERO, null);

    private Steps() {}

    static Reply claim(Decision d, Command.Claim command) {
        TaskRow task = d.view.tasks.get(command.taskId());
        StepRow step = task == null ? null : SlotScheduling.queuedStep(task, command.lane());
        if (step == null || step.isHeld() || !d.atWork()) {
            return Reply.rejected("NOT_CLAIMABLE", "nothing is to be claimed there any more");
        }
        if ((Holds.hasKnownCost(d, step.spec()) || step.needed() != null) && HardLimit.holdsBack(d, step)) {
            SlotScheduling.withdraw(d, step);
            return Reply.rejected("NOT_CLAIMABLE", "the run's credits do not pay the step now");
        }
        String version = command.version();
        if (!Versions.serves(d, step.spec().tool(), version)) {
            // its lot may be of an older rule
            SlotScheduling.enqueue(d, step, null, null);
            return Reply.rejected("NOT_CLAIMABLE", "another version of workers serves the step");
        }
        SlotScheduling.claim(d, step, command.holder());
        boolean own = d.capacity.runs(command.holder(), step.spec().tool());
        Instant expires = d.now.plus(command.lease());
        SlotScheduling.enqueue(d, step, command.lease(), own ? null : SlotScheduling.timeout(d, step));
        return new Reply.Claimed(own ? SlotScheduling.assignment(d, step, expires, null)
                : SlotScheduling.assignment(d, step, expires, command.chained(), version));
    }

    static Reply complete(Decision d, Command.Complete command) {
        StepRow step = d.view.steps.get(command.stepId());
        Reply refusal = fence(step, command.epoch());
        if (refusal != null || step == null) {
            return refusal instanceof Reply.Duplicate ? duplicate(step, command.request())
                    : Objects.requireNonNull(refusal);
        }
        Reply.@Nullable Rejected taken = artifactsTaken(d, step, command.result());
        if (taken != null) {
            StepError error = new StepError(taken.code(), ErrorClass.PERMANENT, taken.message());
            failure(d, step, error, command.result().spent(), command.lost());
            return taken;
        }
        if (step.spec().kind() == StepKind.VERIFY && command.result().verdict() == null) {
            StepError error = new StepError("VERDICT_UNREADABLE", ErrorClass.INFRASTRUCTURE,
                    "the verifier's output is no verdict");
            failure(d, step, error, command.result(), command.lost());
            return Reply.rejected(error.code(), error.message());
        }
        StepError unreadable = AgentTurns.unreadable(step, command.result());
        if (unreadable != null) {
            failure(d, step, unreadable, command.result(), command.lost());
            return Reply.rejected(unreadable.code(), unreadable.message());
        }
        Recorded recorded =
                record(d, step, AgentTurns.yielded(step, command.result()), "completed", null, command.lost());
        d.move(step, StepState.COMPLETED, new StepPayload.Completed(recorded.spent(), null));
        EventPayloads.otherModel(d, step, command.result());
        d.request = command.request();
        Verdict verdict = command.result().verdict();
        List<TurnAnswer.Call> calls = AgentTurns.calls(step, command.result());
        if (calls != null) {
            AgentTurns.called(d, step, calls, recorded.holder());
        } else if (step.spec().kind() == StepKind.VERIFY && verdict != null) {
            Verdicts.applyVerdict(d, step, verdict, recorded.holder());
        } else if (AgentMistakes.tolerated(d, step)) {
            TaskProgress.advance(d, step.task(), AgentTurns.isBeside(step) || d.yields ? null : recorded.holder());
        }
        return d.given == null ? Reply.CHANGED : new Reply.Claimed(d.given);
    }

    /** Repeats the first reply, which may have been lost, with the assignment that the holder received in it. */
    private static Reply duplicate(@Nullable StepRow step, @Nullable NextStepRequest request) {
        if (step == null || request == null || step.lane() != 0) {
            return new Reply.Duplicate(null);
        }
        List<StepRow> steps = step.task().steps;
        int following = steps.indexOf(step) + 1;
        while (following < steps.size()
                && (steps.get(following).state == StepState.SKIPPED || steps.get(following).caller() != null)) {
            following++;
        }
        boolean given = following < steps.size() && request.holder().equals(steps.get(following).holder);
        return new Reply.Duplicate(given ? steps.get(following).id() : null);
    }

    /** A turn has succeeded and the task needs another; not a retry. */
    static Reply another(Decision d, Command.Continue command) {
        StepRow step = d.view.steps.get(command.stepId());
        Reply refusal = fence(step, command.epoch());
        if (refusal != null || step == null) {
            return Objects.requireNonNull(refusal);
        }
        TaskRow task = step.task();
        if (task.spec().parallelSteps() || step.spec().kind() == StepKind.VERIFY
                || step.spec().kind() == StepKind.CALL) {
            return Reply.rejected("CONTINUE_NOT_POSSIBLE",
                    "a verification, a call of an agent and a task whose steps run in parallel have no further turns");
        }
        Reply.@Nullable Rejected taken = artifactsTaken(d, step, command.result());
        if (taken != null) {
            return taken;
        }
        Recorded recorded = record(d, step, command.result(), "continued", null, List.of());
        d.move(step, StepState.COMPLETED, new StepPayload.Completed(recorded.spent(), null));
        EventPayloads.otherModel(d, step, command.result());
        task.continuations += AgentTurns.turnsAreLeft(d, task) ? 1 : 0;
        d.move(task, TaskState.CONTINUING,
                new TaskPayload.Continuing(task.continuations, command.result().tokens().total()));
        if (!AgentTurns.another(d, task)) {
            return Reply.CHANGED;
        }
        AgentTurns.addTurn(d, task, task.endOf(step.position()), step, task.lastTurn(step.position()) + 1);
        d.arm(TimerKind.TASK_CONTINUE, task.id(), d.now.plus(TaskProgress.CONTINUATION_PAUSE));
        return Reply.CHANGED;
    }

    static Reply fail(Decision d, Command.Fail command) {
        StepRow step = d.view.steps.get(command.stepId());
        Reply refusal = fence(step, command.epoch());
        if (refusal instanceof Reply.Duplicate && step != null && step.state == StepState.COMPLETED) {
            return new Reply.Rejected(RetryReason.RETRY_SUCCEEDED.name(),
                    "the step has succeeded under this lease: the failure changes nothing and nothing is retried",
                    step.state.wire(), List.of());
        }
        if (refusal != null || step == null) {
            return Objects.requireNonNull(refusal);
        }
        if (artifactsTaken(d, step, command.spent()) == null) {
            artifacts(d, step, command.spent().artifacts());
        }
        if (Requests.endedByLimit(d, step)) {
            return handBack(d, step, command.spent(), command.lost());
        }
        failure(d, step, Objects.requireNonNullElse(Requests.refusal(step), command.error()), command.spent(),
                command.lost());
        return Reply.CHANGED;
    }

    private static void failure(Decision d, StepRow step, StepError error, Result spent, List<LostAnswer> lost) {
        Hold hold = step.hold;
        d.fetchable = LostAnswers.fetchable(lost);
        Recorded recorded = record(d, step, spent, "failed", error, LostAnswers.unfetchable(lost));
        StepFailures.reported(d, step, error, recorded.cost(), recorded.spent());
        LostAnswers.keep(d, step, lost, hold);
    }

    private static Reply handBack(Decision d, StepRow step, Result spent, List<LostAnswer> lost) {
        Hold hold = step.hold;
        String holder = step.holder;
        Requests.handBack(d, step, new Command.Meter(d.run.id(), step.id(), step.leaseEpoch, spent, d.actor));
        LostAnswers.charge(d, step, LostAnswers.unfetchable(lost), holder);
        LostAnswers.keep(d, step, lost, hold);
        return Reply.CHANGED;
    }

    static Reply release(Decision d, Command.Release command) {
        StepRow step = d.view.steps.get(command.stepId());
        Reply stale = fence(step, command.epoch());
        if (stale != null || step == null) {
            return step != null && endedWithout(step, command) ? unanswered(d, step, command)
                    : Objects.requireNonNull(stale);
        }
        Hold hold = step.hold;
        String holder = step.holder;
        Deferral deferral = CallWaits.handBack(d, step, command);
        if (deferral != null && !deferrable(d, step, deferral).isPositive()) {
            StepError error = deferral.error().of(deferral.busy());
            d.fetchable = LostAnswers.fetchable(command.lost());
            Recorded recorded = record(d, step, NOTHING, "failed", error,
                    LostAnswers.unfetchable(command.lost()));
            StepFailures.exhausted(d, step, error, recorded.spent());
            LostAnswers.keep(d, step, command.lost(), hold);
            return Reply.CHANGED;
        }
        StepError refusal = deferral == null ? Requests.refusal(step) : null;
        if (refusal != null && Requests.endedByLimit(d, step)) {
            return handBack(d, step, NOTHING, command.lost());
        }
        if (refusal != null && Requests.tooOften(d, step)) {
            failure(d, step, refusal, NOTHING, command.lost());
            return Reply.CHANGED;
        }
        SlotScheduling.close(d, step);
        LostAnswers.charge(d, step, LostAnswers.unfetchable(command.lost()), holder);
        LostAnswers.keep(d, step, command.lost(), hold);
        step.deliveries -= refusal == null ? 1 : 0;
        d.changes.touch(step);
        if (deferral == null) {
            d.note(step.task(), step, new StepPayload.Released(step.leaseEpoch, null));
            CountedTime.from(d.changes, step.task(), d.now);
            SlotScheduling.open(d, step, null);
        } else {
            defer(d, step, deferral);
        }
        return Reply.CHANGED;
    }

    /** True when the step has ended under this lease by no report of its holder, who was waiting for answers of models. */
    private static boolean endedWithout(StepRow step, Command.Release command) {
        return !command.lost().isEmpty() && step.state.terminal() && step.leaseEpoch == command.epoch()
                && step.resultEpoch != command.epoch();
    }

    /** Names those answers, once. */
    private static Reply unanswered(Decision d, StepRow step, Command.Release command) {
        LostAnswers.name(d, step, command.lost());
        step.resultEpoch = step.leaseEpoch;
        d.changes.touch(step);
        return Reply.CHANGED;
    }

    static Reply track(Decision d, Command.TrackCall command) {
        StepRow step = d.view.steps.get(command.stepId());
        Reply refusal = fence(step, command.epoch());
        return refusal != null || step == null ? stale(refusal) : CallWaits.track(d, step, command.now());
    }

    static Reply meter(Decision d, Command.Meter command) {
        StepRow step = d.view.steps.get(command.stepId());
        Reply refusal = fence(step, command.epoch());
        if (refusal != null || step == null) {
            return stale(refusal);
        }
        return Metering.chargeUse(d, step, command);
    }

    static Reply ask(Decision d, Command.AskModel command) {
        StepRow step = d.view.steps.get(command.stepId());
        Reply refusal = fence(step, command.epoch());
        return refusal != null || step == null ? stale(refusal) : Requests.ask(d, step, command);
    }

    static Reply call(Decision d, Command.CallTool command) {
        StepRow step = d.view.steps.get(command.stepId());
        Reply refusal = fence(step, command.epoch());
        return refusal != null || step == null ? stale(refusal) : ProgramCalls.call(d, step, command);
    }

    static Reply park(Decision d, Command.Park command) {
        StepRow step = d.view.steps.get(command.stepId());
        Reply refusal = fence(step, command.epoch());
        return refusal != null || step == null ? stale(refusal) : ProgramCalls.park(d, step);
    }

    /** The refusal of a command that has no result to repeat. */
    private static Reply stale(@Nullable Reply refusal) {
        return refusal instanceof Reply.Duplicate
                ? Reply.rejected("STALE_LEASE", "the step has a result under this lease")
                : Objects.requireNonNull(refusal);
    }

    /** Increases the step's hold to the computed worst case, or takes the step back until credits cover it. */
    static Reply hold(Decision d, Command.Hold command) {
        StepRow step = d.view.steps.get(command.stepId());
        Reply refusal = fence(step, command.epoch());
        if (refusal != null || step == null) {
            return stale(refusal);
        }
        if (!Holds.computed(d, step, command.most(), command.begun())) {
            if (command.begun() || d.planning()) {
                return Holds.unpaid(d, step, command.most(), command.begun());
            }
            SlotScheduling.close(d, step);
            step.deliveries--;
            d.changes.touch(step);
            d.note(step.task(), step, new StepPayload.Released(step.leaseEpoch, null));
            return Reply.CHANGED;
        }
        step.hold = step.hold == null ? null : step.hold.requesting();
        d.changes.touch(step);
        SlotScheduling.enqueue(d, step, d.capacity.lease(), null);
        return new Reply.Claimed(SlotScheduling.assignment(d, step, d.now.plus(d.capacity.lease()), null));
    }

    /** The step is claimed again after the delay, and once more at the end of its maximum wait. */
    private static void defer(Decision d, StepRow step, Deferral deferral) {
        Duration longest = deferrable(d, step, deferral);
        step.nextRunAt = d.now.plus(deferral.delay().compareTo(longest) < 0 ? deferral.delay() : longest);
        step.deferredSince = Objects.requireNonNullElse(step.deferredSince, d.now);
        step.deferredFor = deferral.busy();
        d.note(step.task(), step, new StepPayload.Deferred(step.leaseEpoch, step.nextRunAt, deferral.busy(),
                deferral.error().code(), deferral.error().message()));
        d.arm(TimerKind.STEP_RETRY, step.id(), step.nextRunAt);
    }

    /** How long a busy system may still defer the step in this attempt. */
    private static Duration deferrable(Decision d, StepRow step, Deferral deferral) {
        Duration waited = CountedTime.goingSince(d.view, step.deferredSince, d.now);
        return Objects.requireNonNullElse(deferral.maxWait(), d.run.policy().timeouts().providerWait()).minus(waited);
    }

    static Reply leaseExpired(Decision d, Command.LeaseExpired command) {
        StepRow step = d.view.steps.get(command.stepId());
        if (step == null || !step.isHeld() || step.leaseEpoch != command.epoch()) {
            return Reply.UNCHANGED;
        }
        TaskRow task = step.task();
        d.note(task, step, new StepPayload.LeaseExpired(step.leaseEpoch, String.valueOf(step.holder)));
        Hold hold = step.hold;
        String holder = step.holder;
        SlotScheduling.close(d, step);
        d.changes.touch(step);
        boolean poisoned = step.deliveries >= d.run.policy().maxDeliveries();
        LostAnswers.charge(d, step,
                poisoned || step.atMostOnce() ? command.lost() : LostAnswers.unfetchable(command.lost()), holder);
        if (step.atMostOnce()) {
            StepFailures.failLostCall(d, step);
        } else if (poisoned) {
            StepFailures.poisoned(d, step, new StepError(StepFailures.WORKER_LOST, ErrorClass.INFRASTRUCTURE,
                    step.deliveries + " workers in a row claimed the step and sent nothing more"));
        } else {
            LostAnswers.keep(d, step, command.lost(), hold);
            if (!command.unserved() || d.capacity.serves(step.spec().tool()) || !TimeoutMonitor.requeued(d, task)) {
                CountedTime.from(d.changes, task, d.now);
                SlotScheduling.open(d, step, null);
            }
            leaseLost(d, command.lease());
        }
        return Reply.CHANGED;
    }

    /** A step's timer is due; ignores a timer that was armed again since. */
    static void due(Decision d, StepRow step, TimerKind kind) {
        if (step.nextRunAt != null && step.nextRunAt.isAfter(d.now)) {
            return;
        }
        d.disarm(kind, step.id());
        if (kind == TimerKind.STEP_RETRY && (step.state == StepState.AWAITING_RETRY || step.deferred())) {
            SlotScheduling.open(d, step, null);
        } else if (kind == TimerKind.STEP_WAIT && step.state == StepState.WAITING) {
            if (step.signalWait != null) {
                Signals.missed(d, step);
            } else if (step.spec().startsRun()) {
                if (d.run.state != RunState.PAUSED) {
                    ChildRuns.late(d, step);
                }
            } else {
                TaskProgress.succeed(d, step, "{\"waited\":true}", new StepPayload.Completed(null, null));
            }
        }
    }

    /** Whether the step is leased, and not to the reporter. */
    static boolean isHeldByOther(Decision d, Command.Report report) {
        StepRow step = d.view.steps.get(report.stepId());
        return step != null && step.isHeld() && !Objects.equals(step.holder, report.actor().id());
    }

    /** The refusal of a report; null if the epoch's holder may report (races 4–6: the epoch decides). */
    private static @Nullable Reply fence(@Nullable StepRow step, int epoch) {
        if (step == null) {
            return Reply.rejected("STALE_LEASE", "the step belongs to an attempt that is over");
        }
        if (epoch > 0 && step.resultEpoch == epoch) {
            return new Reply.Duplicate(null);
        }
        if (step.leaseEpoch != epoch || !step.isHeld() || step.state != StepState.RUNNING) {
            return new Reply.Rejected("STALE_LEASE", "the lease with epoch " + epoch
                    + " is no longer valid: the step is " + step.state.wire() + " at epoch " + step.leaseEpoch,
                    step.state.wire(), List.of());
        }
        return null;
    }

    /**
     * An accepted report.
     *
     * @param holder the reporter
     * @param cost of the try
     * @param spent tokens and cost for its event; null if absent
     */
    record Recorded(String holder, BigDecimal cost, PayloadPart.@Nullable Spent spent) {}

    /** Records a result under its epoch, charges its cost and frees the lane. */
    private static Recorded record(Decision d, StepRow step, Result reported, String outcome,
            @Nullable StepError error, List<LostAnswer> lost) {
        Result result = LostAnswers.within(d, step, reported, lost);
        Cost cost = Credits.cost(d, step, result);
        String holder = Objects.requireNonNull(step.holder);
        boolean failed = error != null;
        String system = error == null ? null : error.system();
        d.view.calls.add(d.now, 1, error == null || system != null || AgentMistakes.isMistake(step, error) ? 0 : 1,
                system == null ? Set.of() : Set.of(system));
        CountedTime.spare(d.changes, step, step.deferredSince, d.now);
        if (!failed) {
            Requests.abandon(d, step);
        }
        step.resultEpoch = step.leaseEpoch;
        TaskRow task = step.task();
        Metering.Use use = Metering.beyond(step, result, cost);
        Metered all = use.all(step.leaseEpoch);
        if (step.hold != null && use.cost().amount().compareTo(step.hold.amount()) > 0) {
            d.note(task, step, new StepPayload.HoldExceeded(use.cost().amount(), step.hold.amount()));
        }
        Holds.drop(d, step);
        PayloadPart.Spent spent = Credits.charge(d, step, use.result(), use.cost(), null);
        d.changes.add(new ChangeSet.StepResult(step.id(), step.leaseEpoch, d.run.id(), outcome, step.attempt,
                step.startedAt, result.input(), result.outputHash(), error, result.model(), all.tokens(), all.cost(),
                holder, step.tokens == all.tokens().total() && step.cost.compareTo(all.cost()) == 0));
        if (Credits.unpriced(d, step, result)) {
            d.note(task, step, new StepPayload.Unpriced(result.model(), result.tokens().total()));
        }
        if (!failed) {
            d.changes.output(step, result.output());
            d.yielded = result.output();
            d.run.stepsCompleted++;
            artifacts(d, step, result.artifacts());
            Proposals.addAll(d, step, result.proposals());
        }
        ChangeSet.Lane lane = new ChangeSet.Lane(task.id(), step.lane());
        d.reported = step;
        d.left = d.changes.queue().containsKey(lane) ? null : step.laneLease;
        step.laneLease = null;
        step.holder = null;
        step.queued = false;
        d.changes.remove(lane);
        LimitStop.afterCharge(d, spent);
        return new Recorded(holder, all.cost(), spent);
    }

    private static void artifacts(Decision d, StepRow step, List<NewArtifact> stored) {
        for (NewArtifact artifact : stored) {
            boolean replaces = d.view.artifacts.containsKey(artifact.name());
            d.view.addArtifact(artifact.name(), step.id());
            d.changes.add(new ChangeSet.Artifact(d.ids.next(), d.run.id(), d.run.workspaceId(), d.run.attempt,
                    step.id(), artifact, replaces));
        }
    }

    /**
     * An artifact may replace one of an earlier execution: of this step, of an earlier round of its task, or of a step that
     * another attempt of its task or a new plan has removed from the view.
     */
    private static Reply.@Nullable Rejected artifactsTaken(Decision d, StepRow step, Result result) {
        Set<String> own = new HashSet<>();
        for (NewArtifact artifact : result.artifacts()) {
            UUID of = d.view.artifacts.get(artifact.name());
            StepRow has = of == null || of.equals(step.id()) ? null : d.view.steps.get(of);
            if (!own.add(artifact.name()) || has != null && !ofEarlierRound(has.task(), step.task())) {
                return Reply.rejected("ARTIFACT_NAME_TAKEN",
                        "the run already has an artifact named '" + artifact.name() + "'");
            }
        }
        return null;
    }

    private static boolean ofEarlierRound(TaskRow task, TaskRow round) {
        return round.isRound() && task.itemIndex() != round.itemIndex() && task.group() == round.group();
    }

    /** A lease expired. If the run fails of silence, the time of silence begins to count. */
    static void leaseLost(Decision d, Duration lease) {
        if (!d.run.policy().failures().failOnLostHeartbeat() || d.run.quietSince != null
                || d.run.state != RunState.RUNNING || d.view.steps.values().stream().anyMatch(StepRow::isHeld)) {
            return;
        }
        d.run.quietSince = d.now.minus(lease);
        Duration left = d.run.policy().timeouts().heartbeat().minus(lease);
        d.arm(TimerKind.HEARTBEAT, d.run.id(), d.now.plus(left.isNegative() ? Duration.ZERO : left));
    }
}
