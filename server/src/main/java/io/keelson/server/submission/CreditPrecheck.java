package io.keelson.server.submission;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Budget;
import io.keelson.server.http.support.ApiProblem;
import io.keelson.server.http.support.ApiRequest;
import io.keelson.server.http.support.ErrorCode;
import io.keelson.server.http.support.Reads;
import io.keelson.server.money.Money;
import java.math.BigDecimal;
import java.util.Set;
import java.util.UUID;

/**
 * Turns away what its workspace cannot pay, before it becomes a command: a plain read, so that many such calls cost the
 * commits of others nothing. What gets past it at the same moment as others is decided by the commit.
 */
public final class CreditPrecheck {
    /** Where a run sets credits aside when it is let go on. */
    private static final Set<String> BEGINS = Set.of(RunState.CREATED.wire(), RunState.FAILED.wire());

    private final Money money;
    private final Reads reads;

    public CreditPrecheck(Money money, Reads reads) {
        this.money = money;
        this.reads = reads;
    }

    /** Of a new run that is to begin at once; one that is there already was let in before. */
    public void begin(ApiRequest request, UUID run, Budget budget) {
        BigDecimal hard = budget.hardLimit();
        BigDecimal least = budget.estimate().max(Amounts.ONE);
        BigDecimal needed = hard == null ? least : least.min(hard);
        boolean repeated = request.keyed() != null && request.keyed().repeated();
        if (!repeated && available(request).compareTo(needed) < 0 && !reads.exists(request.workspace(), run)) {
            throw refused(needed);
        }
    }

    /** Of a run that is there: only one that has nothing set aside can fail for want of credits. */
    public void beginAgain(ApiRequest request, UUID run) {
        if (available(request).signum() == 0 && reads.exists(request.workspace(), run)
                && BEGINS.contains(reads.run(request.workspace(), run).get("state").stringValue())) {
            throw refused(Amounts.ONE);
        }
    }

    private BigDecimal available(ApiRequest request) {
        return money.balance(request.workspace()).available();
    }

    private static ApiProblem refused(BigDecimal needed) {
        return ApiProblem.of(ErrorCode.INSUFFICIENT_CREDITS,
                "the workspace has fewer than the " + Amounts.credits(needed)
                        + " that the run needs");
    }
}
