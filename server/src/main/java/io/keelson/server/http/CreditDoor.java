package io.keelson.server.http;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Budget;
import io.keelson.server.money.Money;
import java.math.BigDecimal;
import java.util.Set;
import java.util.UUID;

/**
 * Turns away what its workspace cannot pay, before it becomes a command: a plain read, so that many such calls cost the
 * commits of others nothing. What gets past it at the same moment as others is decided by the commit.
 */
final class CreditDoor {
    /** Where a run sets credits aside when it is let go on. */
    private static final Set<String> BEGINS = Set.of(RunState.CREATED.wire(), RunState.FAILED.wire());

    private final Money money;
    private final Reads reads;

    CreditDoor(Money money, Reads reads) {
        this.money = money;
        this.reads = reads;
    }

    /** Of a new run that is to begin at once; one that is there already was let in before. */
    void begin(Call call, UUID run, Budget budget) {
        BigDecimal hard = budget.hardLimit();
        BigDecimal least = budget.estimate().max(Amounts.ONE);
        BigDecimal needed = hard == null ? least : least.min(hard);
        boolean repeated = call.keyed() != null && call.keyed().repeated();
        if (!repeated && available(call).compareTo(needed) < 0 && !reads.exists(call.workspace(), run)) {
            throw refused(needed);
        }
    }

    /** Of a run that is there: only one that has nothing set aside can fail for want of credits. */
    void beginAgain(Call call, UUID run) {
        if (available(call).signum() == 0 && reads.exists(call.workspace(), run)
                && BEGINS.contains(reads.run(call.workspace(), run).get("state").stringValue())) {
            throw refused(Amounts.ONE);
        }
    }

    private BigDecimal available(Call call) {
        return money.balance(call.workspace()).available();
    }

    private static Refusal refused(BigDecimal needed) {
        return Refusal.of(ErrorCode.INSUFFICIENT_CREDITS, "the workspace has fewer than the " + Amounts.credits(needed)
                + " that the run needs");
    }
}
