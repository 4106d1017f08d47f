package io.keelson.core.decide;

import io.keelson.core.money.Amounts;
import io.keelson.core.money.Tokens;
import java.math.BigDecimal;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The usage of a step that was charged before its lease ended: by heartbeats of its holder, and by its requests to models. Its
 * numbers never fall.
 *
 * @param epoch of the lease
 * @param tokens of heartbeats and requests
 * @param cost in credits, including the uncollected part
 * @param requests the part that its requests to models have; null if absent
 */
public record Metered(int epoch, Tokens tokens, BigDecimal cost, @Nullable Requests requests) {

    /**
     * The usage of a program's requests to models.
     *
     * @param refused why a limit has refused a request; null if it has refused none since it allowed one
     * @param needed the least cost of the refused request, in credits; null if absent
     * @param waits whether the program has ended for the refusal, and its step waits until the limits pay the request
     */
    public record Requests(Tokens tokens, BigDecimal cost, @Nullable String refused, @Nullable BigDecimal needed,
            boolean waits) {
        static final Requests NONE = new Requests(Tokens.NONE, Amounts.ZERO, null, null, false);
    }

    /** The usage that heartbeats have charged. */
    public Metered(int epoch, Tokens tokens, BigDecimal cost) {
        this(epoch, tokens, cost, null);
    }

    /** The tokens that the holder has reported. */
    Tokens reportedTokens() {
        return requests == null ? tokens : tokens.beyond(requests.tokens);
    }

    /** The cost of the tokens that the holder has reported. */
    public BigDecimal reportedCost() {
        return requests == null ? cost : Amounts.exact(cost.subtract(requests.cost));
    }

    /** This usage and that of a further request. */
    Metered requesting(Tokens more, BigDecimal itsCost) {
        Requests before = requests == null ? Requests.NONE : requests;
        return new Metered(epoch, tokens.plus(more), Amounts.exact(cost.add(itsCost)),
                new Requests(before.tokens.plus(more), Amounts.exact(before.cost.add(itsCost)), before.refused,
                        before.needed, false));
    }

    /** This usage, after the limits have allowed a request: the program has gone on after refused ones. */
    Metered allowing() {
        return requests == null || requests.refused == null ? this
                : new Metered(epoch, tokens, cost, new Requests(requests.tokens, requests.cost, null, null, false));
    }

    /** This usage, after a limit has refused a request. Of several refused requests the most expensive one counts. */
    Metered refusing(String reason, BigDecimal needed) {
        Requests before = requests == null ? Requests.NONE : requests;
        if (before.needed != null && before.needed.compareTo(needed) > 0) {
            return this;
        }
        return new Metered(epoch, tokens, cost,
                new Requests(before.tokens, before.cost, reason, Amounts.exact(needed), false));
    }

    /** This usage, after the program has ended for a refused request. */
    Metered waiting() {
        Requests before = Objects.requireNonNull(requests);
        return new Metered(epoch, tokens, cost,
                new Requests(before.tokens, before.cost, before.refused, before.needed, true));
    }
}
