package io.keelson.core.decide;

import io.keelson.core.money.Amounts;
import io.keelson.core.money.Prices.Cost;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.Purpose;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.WorstCase;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.EndRequest.Outcome;
import io.keelson.core.run.OtherPayload;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepPayload;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Requests of a step's program to models. Each holds its worst case beside all other holds before it is sent, and is charged and
 * recorded in one decision. A step that ends leaves none open: what their providers may have billed is charged.
 */
final class Requests {
    private Requests() {}

    /** Holds the worst case, with as much output as the limits and the credits pay. */
    static Reply ask(Decision d, StepRow step, Command.AskModel command) {
        WorstCase most = command.most();
        ModelPrice price = d.funds.prices().models().get(most.model());
        if (price == null) {
            return Reply.rejected("NO_PRICE", "the model '" + most.model() + "' has no price");
        }
        if (step.requests.containsKey(command.request())) {
            return Reply.Paid.of(step.requests.get(command.request()).maxOutput());
        }
        BigDecimal wanted = price.usd().atMost(most.maxInput(), most.maxOutput());
        BigDecimal room = room(HardLimit.task(d, step.task().planKey()), room(HardLimit.run(d), wanted));
        BigDecimal payable = room.signum() < 0 ? room : Credits.coverable(d, room);
        long output = payable.compareTo(wanted) >= 0 ? most.maxOutput()
                : price.usd().output(payable, most.maxInput(), most.maxOutput());
        long least = Math.min(most.maxOutput(), command.least());
        if (output < least) {
            BigDecimal needed = price.usd().atMost(most.maxInput(), least);
            BigDecimal left = payable.max(Amounts.ZERO);
            boolean waits = command.waits() && openHolds(d).add(left).compareTo(needed) >= 0;
            return waits ? new Reply.Paid(0, refusal(d, step, needed, left), true) : refuse(d, step, needed, left);
        }
        BigDecimal held = Credits.cover(d, price.usd().atMost(most.maxInput(), output));
        OpenRequest open = new OpenRequest(command.request(), step.leaseEpoch, most.model(), command.k1(), d.now,
                most.maxInput(), output, Amounts.exact(held));
        step.add(open);
        Metered before = Metering.ofLease(step);
        if (before.allowing() != before) {
            step.metered = before.allowing();
            d.changes.touch(step);
        }
        d.view.held = d.view.held.add(open.held());
        d.changes.touch(d.run);
        d.changes.add(new ChangeSet.NewRequest(d.run, step, open, command.k2(), command.facts()));
        return Reply.Paid.of(output);
    }

    /** The part of the amount that a limit leaves; below 0 where it leaves nothing for anything. */
    private static BigDecimal room(HardLimit.@Nullable Scope scope, BigDecimal wanted) {
        return scope == null ? wanted
                : !scope.allows(Amounts.ZERO) ? BigDecimal.ONE.negate() : wanted.min(scope.room());
    }

    /** The holds of the run's open requests, in credits, of which the unused part comes back. */
    private static BigDecimal openHolds(Decision d) {
        return d.view.steps.values().stream().flatMap(step -> step.requests.values().stream()).map(OpenRequest::held)
                .reduce(Amounts.ZERO, BigDecimal::add);
    }

    private static Reply refuse(Decision d, StepRow step, BigDecimal needed, BigDecimal left) {
        String reason = refusal(d, step, needed, left);
        Metered before = Metering.ofLease(step);
        Metered refusing = before.refusing(reason, needed);
        if (!refusing.equals(before)) {
            step.metered = refusing;
            d.changes.touch(d.run);
            d.changes.touch(step);
        }
        return new Reply.Paid(0, reason, false);
    }

    private static String refusal(Decision d, StepRow step, BigDecimal needed, BigDecimal left) {
        String task = step.task().planKey();
        HardLimit.Scope ofTask = HardLimit.task(d, task);
        BigDecimal limit = HardLimit.limit(d.run);
        String raise = ": raise it with `keelson budget " + d.run.id();
        return "even with the least useful output the request may cost " + Amounts.credits(needed) + ", and "
                + (ofTask != null && ofTask.room().compareTo(needed) < 0
                        ? "the budget of its task leaves " + Amounts.text(left) + raise + " --task " + task
                                + "=CREDITS`"
                        : limit != null ? "the run's hard limit of " + Amounts.text(limit) + " leaves "
                                + Amounts.text(left) + raise + " --hard-limit CREDITS`"
                                : "the workspace's credits leave " + Amounts.text(left)
                                        + ": grant some with `keelson credits grant AMOUNT`");
    }

    /** The reason of a failure of a step whose request a limit has refused; null if it has refused none. */
    static @Nullable StepError refusal(StepRow step) {
        Metered.Requests requests = Metering.ofLease(step).requests();
        return requests == null || requests.refused() == null ? null
                : new StepError("BUDGET_EXCEEDED", ErrorClass.BUDGET, requests.refused());
    }

    /**
     * Whether the program has ended after the refusal of a request, and its step can be executed again when the limits pay the request.
     * A call of another program fails instead, and its caller decides. The bound of executions in a row holds here, too.
     */
    static boolean endedByLimit(Decision d, StepRow step) {
        Metered.Requests requests = Metering.ofLease(step).requests();
        return requests != null && requests.needed() != null && !d.planning() && !step.atMostOnce()
                && step.caller() == null && !tooOften(d, step);
    }

    /** Whether the step fails after the refusal of a request, as too many executions in a row have ended without a result. */
    static boolean tooOften(Decision d, StepRow step) {
        return step.deliveries >= d.run.policy().maxDeliveries();
    }

    /**
     * Hands the step back: it is executed again, with the recorded answers, when the limits pay the refused request.
     *
     * @param use that its holder reports
     */
    static void handBack(Decision d, StepRow step, Command.Meter use) {
        var _ = Metering.chargeUse(d, step, use);
        Metered refused = Metering.ofLease(step).waiting();
        step.metered = refused;
        SlotScheduling.close(d, step);
        d.view.refused++;
        CountedTime.spare(d.changes, step, step.deferredSince, d.now);
        step.deferredSince = d.now;
        step.deferredFor = null;
        d.changes.touch(step);
        d.note(step.task(), step,
                new StepPayload.Released(step.leaseEpoch, Objects.requireNonNull(refused.requests()).refused()));
        CountedTime.from(d.changes, step.task(), d.now);
        SlotScheduling.open(d, step, null);
        if (!step.queued) {
            step.deliveries--;
        }
    }

    /** The answer is recorded and charged, or no answer comes. */
    static Reply end(Decision d, Command.EndRequest command) {
        StepRow step = d.view.steps.get(command.stepId());
        OpenRequest request = step == null ? null : step.requests.get(command.request());
        if (step == null || request == null) {
            return Reply.rejected("REQUEST_ENDED", "the request has ended with its step");
        }
        close(d, step, request);
        d.changes.touch(d.run);
        if (command.outcome() == Outcome.REFUSED) {
            d.changes.end(new ChangeSet.EndedRequest(request.id(), "refused", Tokens.NONE, Amounts.ZERO, null));
            return Reply.CHANGED;
        }
        if (command.outcome() == Outcome.LOST) {
            LimitStop.afterCharge(d, lose(d, step, request, command.used()));
            return Reply.CHANGED;
        }
        Result used = Objects.requireNonNull(command.used());
        PayloadPart.Spent spent = charge(d, step, request, used, "answered", command.answer());
        LimitStop.afterCharge(d, spent);
        if (spent != null) {
            d.note(step.task(), step, new StepPayload.Charged(request.epoch(), spent));
        }
        return Reply.CHANGED;
    }

    /** The step is about to end: no program waits for its answers and calls any more. */
    static void abandon(Decision d, StepRow step) {
        for (StepRow call : List.copyOf(step.calls)) {
            if (!call.state.terminal()) {
                TaskMoves.cancel(d, call);
                Tickets.voidOf(d, call);
            }
        }
        for (OpenRequest request : new ArrayList<>(step.requests.values())) {
            close(d, step, request);
            lose(d, step, request, null);
        }
    }

    private static void close(Decision d, StepRow step, OpenRequest request) {
        step.requests.remove(request.id());
        d.view.held = d.view.held.subtract(request.held());
        d.holdEnded = true;
    }

    /** Charges the tokens that the provider may have billed. */
    private static PayloadPart.@Nullable Spent lose(Decision d, StepRow step, OpenRequest request,
            @Nullable Result known) {
        ModelPrice price = d.funds.prices().models().get(request.model());
        Tokens most = price == null ? new Tokens(request.maxInput(), 0, 0, request.maxOutput(), 0)
                : price.usd().dearest(request.maxInput(), request.maxOutput());
        Result used = known != null ? known : Result.spent(most, null, request.model()).estimated(true);
        PayloadPart.Spent spent = charge(d, step, request, used, "lost", null);
        d.note(step.task(), step, new OtherPayload.ModelAnswerLost(request.epoch(), request.model(), request.sha256(),
                request.sentAt(), used.tokens(), price == null ? null : price.usd().cost(used.tokens()), spent));
        return spent;
    }

    private static PayloadPart.@Nullable Spent charge(Decision d, StepRow step, OpenRequest request, Result used,
            String state, @Nullable String answer) {
        ModelPrice price = d.funds.prices().models().get(request.model());
        Cost cost = price == null ? new Cost(Amounts.ZERO, null)
                : new Cost(price.usd().cost(used.tokens()), price.version());
        d.changes.end(new ChangeSet.EndedRequest(request.id(), state, used.tokens(), cost.amount(), answer));
        PayloadPart.Spent spent = Credits.charge(d, step, used, cost,
                step.id() + "/" + step.attempt + "/used/" + request.epoch() + "/" + request.id(), Purpose.GATEWAY);
        if (spent != null && step.isHeld() && step.leaseEpoch == request.epoch()) {
            step.metered = Metering.ofLease(step).requesting(used.tokens(), cost.amount());
        } else if (spent != null) {
            d.changes.amend(new ChangeSet.StepResult(step.id(), request.epoch(), d.run.id(), LostAnswers.LOST,
                    step.attempt, step.startedAt, null, null, null, used.model(), used.tokens(), cost.amount(), null,
                    false));
        }
        d.changes.touch(step);
        return spent;
    }
}
