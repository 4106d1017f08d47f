package io.keelson.server.mission.submission;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Budget;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.mission.submission.SubmissionResult.InsufficientCredits;
import io.keelson.server.tenant.money.Money;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;

/**
 * Refuses runs that their workspace cannot pay before they become commands, by a read without locks. The commit decides
 * the same; a batch with such a run is decided again under locks. Thread-safe.
 */
public final class CreditPrecheck {

    /** States in which a run has no reservation, so that its next start needs credits. */
    private static final Set<RunState> UNRESERVED = Set.of(RunState.CREATED, RunState.FAILED);

    /** How long new runs of a workspace are checked after a commit has refused one. */
    static final Duration CHECKED = Duration.ofMinutes(1);

    private static final int MAX_WORKSPACES = 10_000;

    private final Database database;
    private final RunReader reader;
    private final Money money;
    private final Cache<UUID, Boolean> refused;

    public CreditPrecheck(Database database, RunReader reader, Money money) {
        this(database, reader, money, System::nanoTime);
    }

    CreditPrecheck(Database database, RunReader reader, Money money, LongSupplier nanoTime) {
        this.database = database;
        this.reader = reader;
        this.money = money;
        this.refused = Caffeine.newBuilder().maximumSize(MAX_WORKSPACES).expireAfterWrite(CHECKED)
                .ticker(nanoTime::getAsLong).executor(Runnable::run).build();
    }

    /** A commit has refused a new run for want of credits: others are checked before theirs. */
    void refused(UUID workspace) {
        refused.put(workspace, true);
    }

    /** Whether a commit has refused a new run of the workspace within {@link #CHECKED}. */
    boolean isNeeded(UUID workspace) {
        return refused.getIfPresent(workspace) != null;
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
