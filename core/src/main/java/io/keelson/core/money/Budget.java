package io.keelson.core.money;

import java.math.BigDecimal;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a run is thought to cost and what it may cost, in credits, as it was submitted.
 *
 * @param estimate by its plan; zero when that does not say
 * @param tokensByModel what it is thought to use of which models beyond that; what that costs, prices say when it begins
 * @param hardLimit what all of its attempts may cost together; null for no limit
 * @param softLimit where people are warned; null for nowhere
 * @param warnAtPercent of the hard limit, where people are warned; null for nowhere
 * @param minCredits what its workspace must have at least for a failed step to be tried again
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

    /** What it is thought to cost. */
    public BigDecimal estimate(Prices prices) {
        return tokensByModel.entrySet().stream().map(each -> prices.tokens(each.getKey(), each.getValue()))
                .reduce(estimate, BigDecimal::add);
    }

    /**
     * Where people are warned: the lower one when there are two.
     *
     * @param hard the limit in force; null for none
     * @param soft likewise
     * @return null for nowhere
     */
    public @Nullable BigDecimal warning(@Nullable BigDecimal hard, @Nullable BigDecimal soft) {
        BigDecimal share = hard == null || warnAtPercent == null ? null
                : Amounts.of(hard.multiply(warnAtPercent).movePointLeft(2));
        return share == null ? soft : soft == null ? share : share.min(soft);
    }
}
