package io.keelson.server.submission;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Budget;
import io.keelson.server.db.Database;
import io.keelson.server.money.Money;
import io.keelson.server.run.read.RunReader;
import io.keelson.server.submission.SubmissionResult.InsufficientCredits;
import java.math.BigDecimal;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Refuses runs that their workspace cannot pay before they become commands, by a read without locks. Concurrent
 * submissions that pass it are decided by the commit.
 */
public final class CreditPrecheck {

    /** States in which a run has no reservation, so that its next start needs credits. */
    private static final Set<RunState> UNRESERVED = Set.of(RunState.CREATED, RunState.FAILED);

    private final Database database;
    private final RunReader reader;
    private final Money money;

    public CreditPrecheck(Database database, RunReader reader, Money money) {
        this.database = database;
        this.reader = reader;
        this.money = money;
    }

    /** Checks a new run without a start time, whether it starts immediately or on request. A run that exists already was checked before. */
    public Optional<InsufficientCredits> start(UUID workspace, UUID run, Budget budget) {
        BigDecimal hard = budget.hardLimit();
        BigDecimal least = budget.estimate().max(Amounts.ONE);
        BigDecimal needed = hard == null ? least : least.min(hard);
        return available(workspace).compareTo(needed) < 0 && state(workspace, run).isEmpty()
                ? Optional.of(new InsufficientCredits(needed))
                : Optional.empty();
    }

    /** Checks an existing run that is to start or to be retried. */
    public Optional<InsufficientCredits> restart(UUID workspace, UUID run) {
        return available(workspace).signum() == 0 && state(workspace, run).filter(UNRESERVED::contains).isPresent()
                ? Optional.of(new InsufficientCredits(Amounts.ONE))
                : Optional.empty();
    }

    private Optional<RunState> state(UUID workspace, UUID run) {
        return database.withConnection(c -> reader.state(c, workspace, run));
    }

    private BigDecimal available(UUID workspace) {
        return money.balance(workspace).available();
    }
}
