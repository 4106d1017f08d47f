package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Reply;
import io.keelson.core.run.SourceStep;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;

/**
 * Applies the result of another step to a step with the same key. The evaluator finds that step, in any run of the workspace. A step that
 * computes the result is claimed as any other. A step that waits for it holds no lease and no credits, and computes the result itself
 * once the time of one execution is over.
 */
final class ResultReuse {
    private static final Duration SOONEST = Duration.ofMillis(200);
    private static final Duration LATEST = Duration.ofSeconds(5);

    private ResultReuse() {}

    /** The evaluator has answered. The step's request has ended by now. */
    static Reply evaluated(Decision d, StepRow step, Evaluation evaluation) {
        if (evaluation instanceof Evaluation.ComputedBy(SourceStep source) && await(d, step, source)) {
            return Reply.CHANGED;
        }
        step.deferredSince = null;
        step.deferredFor = null;
        d.changes.touch(step);
        switch (evaluation) {
            case Evaluation.Reused reused -> {
                SourceStep source = reused.source();
                step.deferredFor = source.text();
                d.note(step.task(), step, new StepPayload.ResultReused(source.run(), source.task(), source.step()));
                TaskProgress.succeed(d, step, reused.output(), (PayloadPart.Waited) null);
            }
            case Evaluation.ComputedBy _,Evaluation.Computes _ -> {
                d.computes = step;
                TaskProgress.advance(d, step.task(), null);
            }
            case Evaluation.Broken(StepError error) -> {
                d.move(step, StepState.WAITING, new StepPayload.Waiting());
                StepFailures.failWithoutHolder(d, step, error,
                        new StepPayload.Failed(PayloadPart.Failure.of(error), null, null, false));
            }
            case Evaluation.Proceed p -> throw new IllegalArgumentException(p.toString());
            case Evaluation.Skip s -> throw new IllegalArgumentException(s.toString());
            case Evaluation.Holds h -> throw new IllegalArgumentException(h.toString());
            case Evaluation.Opened o -> throw new IllegalArgumentException(o.toString());
            case Evaluation.Approved a -> throw new IllegalArgumentException(a.toString());
            case Evaluation.Awaits a -> throw new IllegalArgumentException(a.toString());
            case Evaluation.Starts s -> throw new IllegalArgumentException(s.toString());
            case Evaluation.ChildIs c -> throw new IllegalArgumentException(c.toString());
            case Evaluation.ParentIs p -> throw new IllegalArgumentException(p.toString());
            case Evaluation.Repeats r -> throw new IllegalArgumentException(r.toString());
            case Evaluation.Output o -> throw new IllegalArgumentException(o.toString());
            case Evaluation.Planned p -> throw new IllegalArgumentException(p.toString());
            case Evaluation.Undoes u -> throw new IllegalArgumentException(u.toString());
            case Evaluation.UndoIs u -> throw new IllegalArgumentException(u.toString());
            case Evaluation.ChildUndo c -> throw new IllegalArgumentException(c.toString());
        }
        return Reply.CHANGED;
    }

    /** Requests another answer later: soon after a short wait, and after a fourth of a long one. False once the wait is over. */
    private static boolean await(Decision d, StepRow step, SourceStep source) {
        Instant since = step.deferredSince == null ? d.now : step.deferredSince;
        Instant until = since.plus(SlotScheduling.timeout(d, step));
        if (!d.now.isBefore(until)) {
            return false;
        }
        String awaited = source.text();
        if (!awaited.equals(step.deferredFor)) {
            step.deferredFor = awaited;
            d.note(step.task(), step, new StepPayload.ResultAwaited(source.run(), source.task(), source.step(), until));
        }
        step.deferredSince = since;
        step.evaluating = true;
        d.view.lookAtWaits(step.task());
        d.changes.touch(step);
        Duration pause = Duration.between(since, d.now).dividedBy(4);
        pause = pause.compareTo(SOONEST) < 0 ? SOONEST : pause.compareTo(LATEST) > 0 ? LATEST : pause;
        Instant next = d.now.plus(pause);
        d.arm(TimerKind.EVALUATE_STEP, step.id(), next.isBefore(until) ? next : until);
        return true;
    }
}
