package io.keelson.core.money;

import java.math.BigDecimal;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A run's estimated cost and its limits, in credits, as submitted.
 *
 * @param estimate by its plan; zero when the plan has none
 * @param tokensByModel estimated use of models beyond that, priced as output when the run begins
 * @param hardLimit maximum cost of all its attempts together; null for no limit
 * @param softLimit at which people are warned; null if absent
 * @param warnAtPercent of the hard limit, at which people are warned; null if absent
 * @param minCredits that its workspace must have for a retry of a failed step
 */
public record Budget(BigDecimal estimate, Map<String, Long> tokensByModel, @Nullable BigDecimal hardLimit,
        @Nullable BigDecimal softLimit, @Nullable BigDecimal warnAtPercent, BigDecimal minCredits) {

    /** No estimate and no limits. */
    public static final Budget NONE = new Budget(Amounts.ZERO, Map.of(), null, null, null, Amounts.ZERO);

    public Budget {
        estimate = Amounts.of(estimate);
        tokensByModel = Map.copyOf(tokensByModel);
        hardLimit = rounded(hardLimit);
        softLimit = rounded(softLimit);
        warnAtPercent = rounded(warnAtPercent);
        minCredits = Amounts.of(minCredits);
    }

    /** No estimate and that limit. */
    public static Budget upTo(BigDecimal hardLimit) {
        return new Budget(Amounts.ZERO, Map.of(), hardLimit, null, null, Amounts.ZERO);
    }

    private static @Nullable BigDecimal rounded(@Nullable BigDecimal amount) {
        return amount == null ? null : Amounts.of(amount);
    }

    /** The estimated cost. */
    public BigDecimal estimate(Prices prices) {
        return Amounts.of(tokensByModel.entrySet().stream()
                .map(each -> prices.tokens(each.getKey(), Tokens.undivided(each.getValue())))
                .reduce(estimate, BigDecimal::add));
    }

    /**
     * The cost at which people are warned: the lower one of two.
     *
     * @param hard the limit in force; null if absent
     * @param soft the soft limit in force; null if absent
     * @return null if absent
     */
    public @Nullable BigDecimal warning(@Nullable BigDecimal hard, @Nullable BigDecimal soft) {
        BigDecimal share = hard == null || warnAtPercent == null ? null
                : Amounts.of(hard.multiply(warnAtPercent).movePointLeft(2));
        return share == null ? soft : soft == null ? share : share.min(soft);
    }
}
