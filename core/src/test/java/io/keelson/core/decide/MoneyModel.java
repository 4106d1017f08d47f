package io.keelson.core.decide;

import io.keelson.core.money.Amounts;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;

/**
 * A second, simpler model of credits: one workspace, some runs of one task each, whose steps run in order. Costs are exact, and
 * what all attempts of a run were charged is their sum, rounded once. Independent of the core.
 */
final class MoneyModel {
    enum State {
        RUNNING, PAUSED, STOPPED, FAILED, ENDED
    }

    /** One run. */
    static final class Run {
        final BigDecimal estimate;
        BigDecimal limit;
        State state = State.RUNNING;
        BigDecimal reserved;
        /** Collected in all attempts, not rounded. */
        BigDecimal collected = BigDecimal.ZERO;
        BigDecimal charged = Amounts.ZERO;
        BigDecimal uncollected = Amounts.ZERO;
        BigDecimal before = Amounts.ZERO;
        BigDecimal refunded = Amounts.ZERO;

        private Run(BigDecimal estimate, BigDecimal limit) {
            this.estimate = estimate;
            this.limit = limit;
        }

        private BigDecimal left() {
            return reserved.add(before).subtract(collected);
        }

        private BigDecimal within(BigDecimal amount) {
            return limit == null ? amount : amount.min(limit.subtract(before).subtract(reserved)).max(Amounts.ZERO);
        }

        private boolean atLimit() {
            return limit != null && collected.signum() > 0 && collected.compareTo(limit) >= 0;
        }
    }

    BigDecimal available = Amounts.ZERO;
    BigDecimal granted = Amounts.ZERO;
    final List<Run> runs = new ArrayList<>();

    void grant(BigDecimal amount) {
        available = available.add(amount);
        granted = granted.add(amount);
    }

    /** Null when it is refused. */
    Run start(BigDecimal estimate, BigDecimal limit) {
        Run run = new Run(estimate, limit);
        if (!begin(run)) {
            return null;
        }
        runs.add(run);
        return run;
    }

    private boolean begin(Run run) {
        run.reserved = Amounts.ZERO;
        BigDecimal wanted = run.within(run.estimate.max(Amounts.ONE));
        boolean usedUp = run.limit != null && run.before.signum() > 0 && run.before.compareTo(run.limit) >= 0;
        if (usedUp || !take(wanted)) {
            return false;
        }
        run.reserved = wanted;
        run.uncollected = Amounts.ZERO;
        run.state = State.RUNNING;
        return true;
    }

    private boolean take(BigDecimal amount) {
        boolean there = available.compareTo(amount) >= 0;
        available = there ? available.subtract(amount) : available;
        return there;
    }

    private void extend(Run run, BigDecimal missing) {
        BigDecimal much = run.within(run.estimate.max(Amounts.ONE).max(missing));
        BigDecimal little = run.within(missing);
        run.reserved = run.reserved.add(take(much) ? much : take(little) ? little : Amounts.ZERO);
    }

    private static BigDecimal up(BigDecimal cost) {
        return cost.setScale(6, RoundingMode.UP);
    }

    private void charge(Run run, BigDecimal cost) {
        if (cost.compareTo(run.left()) > 0) {
            extend(run, up(cost.subtract(run.left())));
        }
        if (cost.compareTo(run.left()) > 0) {
            extend(run, available.min(run.within(up(cost.subtract(run.left())))));
        }
        BigDecimal collected = cost.min(run.left());
        run.collected = run.collected.add(collected);
        run.charged = run.collected.setScale(6, RoundingMode.HALF_UP).subtract(run.before);
        BigDecimal rest = cost.subtract(collected);
        run.uncollected = run.uncollected.add(rest);
        if (rest.signum() > 0 && run.state == State.RUNNING) {
            run.state = State.STOPPED;
        }
    }

    /** @param last true when nothing is left to do then */
    void complete(Run run, BigDecimal cost, boolean last) {
        charge(run, cost);
        if (run.state == State.RUNNING && last) {
            end(run, State.ENDED);
        } else {
            opens(run, true);
        }
    }

    void fail(Run run, BigDecimal cost) {
        charge(run, cost);
        BigDecimal missing = cost.subtract(run.left());
        if (missing.signum() > 0 && available.compareTo(missing) < 0) {
            end(run, State.FAILED);
        }
    }

    /** A running run would begin a step. */
    void opens(Run run, boolean really) {
        if (really && run.state == State.RUNNING && run.atLimit()) {
            run.state = State.STOPPED;
        }
    }

    void end(Run run, State how) {
        BigDecimal refund = run.reserved.subtract(run.charged);
        run.refunded = run.refunded.add(refund);
        available = available.add(refund);
        run.before = run.before.add(run.charged);
        run.reserved = Amounts.ZERO;
        run.charged = Amounts.ZERO;
        run.state = how;
    }

    /** False when it is refused. */
    boolean retry(Run run) {
        return begin(run);
    }

    /** False when it is refused. What was used up in a pause stops the run now. */
    boolean resume(Run run, boolean opens) {
        boolean paused = run.state == State.PAUSED;
        if ((!paused || run.uncollected.signum() > 0 && run.left().signum() == 0) && !provide(run)) {
            run.state = State.STOPPED;
            return paused;
        }
        run.state = State.RUNNING;
        opens(run, opens);
        return true;
    }

    /** A run that could not pay continues with reserved credits, or not at all. */
    private boolean provide(Run run) {
        if (run.limit != null && run.collected.compareTo(run.limit) >= 0) {
            return false;
        }
        if (run.left().signum() == 0) {
            extend(run, run.within(Amounts.ONE));
        }
        return run.left().signum() > 0;
    }

    /** False when it is refused. */
    boolean raise(Run run, BigDecimal limit, boolean opens) {
        if (run.state == State.ENDED || limit.compareTo(run.before.add(run.reserved)) < 0) {
            return false;
        }
        run.limit = limit;
        if (run.state == State.STOPPED) {
            resume(run, opens);
        }
        return true;
    }
}
