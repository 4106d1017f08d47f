package io.keelson.core.decide;

import io.keelson.core.money.Prices.Cost;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.WorstCase;
import io.keelson.core.run.LostAnswer;
import io.keelson.core.run.LostAnswer.Reported;
import io.keelson.core.run.OtherPayload;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Result;
import java.math.BigDecimal;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Charges requests to models whose answers no result reports: their providers may have billed them. An answer that the next
 * execution of the step can fetch is not charged before the step has ended; the step keeps its hold until then.
 */
final class LostAnswers {
    /** Outcome of a lease without a result, whose use is charged. */
    static final String LOST = "lost";
    /** In the key of a charge for an answer that was still to be fetched when its step ended. */
    private static final String UNFETCHED = "unfetched";
    private static final Result NOTHING = Result.spent(Tokens.NONE, null, null);

    private LostAnswers() {}

    /** The answers that no execution fetches. */
    static List<LostAnswer> unfetchable(List<LostAnswer> lost) {
        return lost.stream().filter(answer -> answer.responseId() == null).toList();
    }

    /** The other ones. */
    static List<LostAnswer> fetchable(List<LostAnswer> lost) {
        return lost.stream().filter(answer -> answer.responseId() != null).toList();
    }

    /** Adds the cost of lost answers to a result, and notes each lost answer as an event. */
    static Result within(Decision d, StepRow step, Result result, List<LostAnswer> lost) {
        for (LostAnswer answer : lost) {
            note(d, step, answer, null);
        }
        return sum(d, step, result, lost);
    }

    private static Result sum(Decision d, StepRow step, Result result, List<LostAnswer> lost) {
        Result all = dearest(d, result);
        for (LostAnswer answer : lost) {
            Result more = estimate(d, answer);
            boolean alike = all.cost() == null && (all.model() == null || all.model().equals(more.model()));
            BigDecimal cost = alike ? null
                    : Credits.cost(d, step, all).amount().add(Credits.cost(d, step, more).amount());
            all = all.using(all.tokens().plus(more.tokens()), cost,
                    alike ? more.model() : Objects.requireNonNullElse(all.model(), answer.model()),
                    all.estimated() || more.estimated());
        }
        return all;
    }

    /**
     * Charges answers of a lease that has ended without a result. Its hold has ended.
     *
     * @param holder of the lease; null where a result has it
     */
    static void charge(Decision d, StepRow step, List<LostAnswer> lost, @Nullable String holder) {
        charge(d, step, lost, holder, LOST);
    }

    private static void charge(Decision d, StepRow step, List<LostAnswer> lost, @Nullable String holder, String what) {
        PayloadPart.Spent spent = lost.isEmpty() ? null : charge(d, step, sum(d, step, NOTHING, lost), holder, what);
        for (int i = 0; i < lost.size(); i++) {
            note(d, step, lost.get(i), i == 0 ? spent : null);
        }
        LimitStop.afterCharge(d, spent);
    }

    private static PayloadPart.@Nullable Spent charge(Decision d, StepRow step, Result result,
            @Nullable String holder, String what) {
        Cost cost = Credits.cost(d, step, result);
        String key = step.id() + "/" + step.attempt + "/" + what + "/" + step.leaseEpoch;
        PayloadPart.Spent spent = Credits.charge(d, step, result, cost, key);
        d.changes.amend(new ChangeSet.StepResult(step.id(), step.leaseEpoch, d.run.id(), LOST, step.attempt,
                step.startedAt, null, null, null, result.model(), result.tokens(), cost.amount(), holder, false));
        d.changes.touch(step);
        return spent;
    }

    /** The step is about to end: charges the answers that only a further execution would have fetched. */
    static void unfetched(Decision d, StepRow step) {
        List<LostAnswer> lost = d.fetchable;
        d.fetchable = List.of();
        charge(d, step, lost, null, UNFETCHED);
    }

    /** Keeps the hold for the answers that the next execution fetches. */
    static void keep(Decision d, StepRow step, List<LostAnswer> lost, @Nullable Hold hold) {
        if (!step.state.terminal() && hold != null && !fetchable(lost).isEmpty()) {
            Holds.keep(d, step, hold);
        }
    }

    /**
     * A step has ended by no report of its holder: charges the worst case of the request that was sent under its hold.
     *
     * @return the charge for its event; null where none was sent
     */
    static PayloadPart.@Nullable Spent ended(Decision d, StepRow step) {
        boolean unfetched = step.kept != null;
        Hold hold = unfetched ? step.kept : step.hold;
        WorstCase most = step.spec().worstCase();
        Holds.drop(d, step);
        Holds.release(d, step);
        if (hold == null || most == null || !hold.requested()) {
            return null;
        }
        return charge(d, step, Result.spent(dearest(d, most.model(), most.maxInput(), hold.maxOutput()), null,
                most.model()).estimated(true), step.holder, unfetched ? UNFETCHED : LOST);
    }

    /** Names the answers of a step that has ended and was charged by its hold. */
    static void name(Decision d, StepRow step, List<LostAnswer> lost) {
        lost.forEach(answer -> note(d, step, answer, null));
    }

    private static Result estimate(Decision d, LostAnswer answer) {
        Tokens tokens = answer.tokens();
        return Result.spent(answer.reported() != Reported.NONE ? tokens
                : dearest(d, answer.model(), tokens.total() - tokens.output(), tokens.output()), null, answer.model())
                .estimated(answer.reported() != Reported.ALL);
    }

    /** Prices an input that its provider has not reported at the dearest part of the input. */
    private static Result dearest(Decision d, Result result) {
        Tokens tokens = result.tokens();
        String model = result.model();
        return !result.estimated() || model == null || tokens.cacheRead() + tokens.cacheWrite() > 0 ? result
                : result.using(dearest(d, model, tokens.input(), tokens.output()), result.cost(), model, true);
    }

    private static Tokens dearest(Decision d, String model, long input, long output) {
        ModelPrice price = d.funds.prices().models().get(model);
        return price == null ? new Tokens(input, 0, 0, output, 0) : price.usd().dearest(input, output);
    }

    private static void note(Decision d, StepRow step, LostAnswer answer, PayloadPart.@Nullable Spent spent) {
        Result result = estimate(d, answer);
        d.note(step.task(), step, new OtherPayload.ModelAnswerLost(step.leaseEpoch, answer.model(),
                answer.requestSha256(), answer.sentAt(), result.tokens(),
                d.funds.prices().models().containsKey(answer.model()) ? Credits.cost(d, step, result).amount() : null,
                spent));
    }
}
