package io.keelson.core.money;

import io.keelson.core.decide.ChangeSet;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Workspaces' balances and their ledger in memory, as a database keeps them: both change together or not at all. The fold
 * of the ledger is kept beside the balances, so that each can be held against the other (I1). The available credits of a
 * workspace are divided among slots.
 */
public final class Bank {

    /** What is in the accounts of one workspace. */
    private record Accounts(BigDecimal available, BigDecimal reserved, BigDecimal spent) {
        private static final Accounts NOTHING = new Accounts(Amounts.ZERO, Amounts.ZERO, Amounts.ZERO);

        private Accounts plus(BigDecimal toAvailable, BigDecimal toReserved, BigDecimal toSpent) {
            return new Accounts(available.add(toAvailable), reserved.add(toReserved), spent.add(toSpent));
        }

        private boolean possible() {
            return available.signum() >= 0 && reserved.signum() >= 0 && spent.signum() >= 0;
        }
    }

    private record Key(UUID workspace, String key, Transfer.Kind kind) {}

    /** Fewer than nodes. */
    private static final int SLOTS = 2;

    private final Map<UUID, Accounts> balances = new HashMap<>();
    private final Map<UUID, List<BigDecimal>> slots = new HashMap<>();
    private final Map<UUID, Accounts> folded = new HashMap<>();
    private final Map<UUID, BigDecimal> granted = new HashMap<>();
    private final Map<UUID, BigDecimal> withheld = new HashMap<>();
    private final Set<Key> keys = new HashSet<>();
    private final List<Transfer> ledger = new ArrayList<>();

    public void grant(UUID workspace, BigDecimal amount) {
        balances.merge(workspace, Accounts.NOTHING.plus(amount, Amounts.ZERO, Amounts.ZERO), Bank::sum);
        folded.merge(workspace, Accounts.NOTHING.plus(amount, Amounts.ZERO, Amounts.ZERO), Bank::sum);
        granted.merge(workspace, amount, BigDecimal::add);
        share(workspace);
    }

    private void share(UUID workspace) {
        slots.put(workspace, Amounts.split(available(workspace), SLOTS));
    }

    private static Accounts sum(Accounts one, Accounts other) {
        return one.plus(other.available, other.reserved, other.spent);
    }

    public BigDecimal available(UUID workspace) {
        return balances.getOrDefault(workspace, Accounts.NOTHING).available;
    }

    public List<Transfer> ledger() {
        return ledger;
    }

    /** Keeps so much from decisions, as a limit of the month does. */
    public void withhold(UUID workspace, BigDecimal amount) {
        withheld.put(workspace, amount);
    }

    /** Knows what is there now. */
    public CreditBalances balances() {
        Map<UUID, BigDecimal> available = new HashMap<>();
        balances.forEach((workspace, accounts) -> available.put(workspace,
                accounts.available.subtract(withheld.getOrDefault(workspace, Amounts.ZERO))));
        return new LockedBalances(available, withheld);
    }

    /**
     * False when a slot would be negative, or does not have the reservations that end in their own commit; nothing has changed then.
     *
     * @param node whose slot of each balance changes; null for all slots, whose sum has decided
     */
    public boolean covers(ChangeSet changes, @Nullable Integer node) {
        Map<UUID, BigDecimal> change = new HashMap<>();
        changes.balances().forEach(each -> change.put(each.workspaceId(), each.available()));
        if (node != null) {
            changes.passingCredits().forEach((workspace, amount) -> change.merge(workspace, amount.negate(),
                    BigDecimal::add));
        }
        return change.entrySet().stream().allMatch(each -> {
            UUID workspace = each.getKey();
            BigDecimal there = node == null ? available(workspace)
                    : slots.containsKey(workspace) ? slots.get(workspace).get(node % SLOTS) : Amounts.ZERO;
            return there.add(each.getValue()).signum() >= 0;
        });
    }

    /** Changes all slots. */
    public void commit(ChangeSet changes) {
        commit(changes, null);
    }

    /** The same of what {@link #covers}. */
    public void commit(ChangeSet changes, @Nullable Integer node) {
        changes.balances().forEach(change -> {
            UUID workspace = change.workspaceId();
            balances.merge(workspace, new Accounts(change.available(), change.reserved(), change.spent()), Bank::sum);
            if (node == null) {
                share(workspace);
            } else {
                List<BigDecimal> parts = slots.get(workspace);
                parts.set(node % SLOTS, parts.get(node % SLOTS).add(change.available()));
            }
        });
        changes.transfers().forEach(this::book);
    }

    private void book(Transfer t) {
        unless(t.amount().signum() > 0 || t.amount().signum() == 0 && t.use() != null && t.use().cost().signum() > 0,
                "not an amount: %s", t);
        unless(keys.add(new Key(t.workspaceId(), t.key(), t.kind())), "booked twice: %s", t);
        ledger.add(t);
        folded.put(t.workspaceId(), move(move(folded.getOrDefault(t.workspaceId(), Accounts.NOTHING),
                t.kind().from(), t.amount().negate()), t.kind().to(), t.amount()));
        unless(folded.get(t.workspaceId()).available.signum() >= 0, "I1: more is reserved than is left: %s", t);
    }

    private static Accounts move(Accounts accounts, LedgerAccount account, BigDecimal amount) {
        return switch (account) {
            case AVAILABLE -> accounts.plus(amount, Amounts.ZERO, Amounts.ZERO);
            case RESERVED -> accounts.plus(Amounts.ZERO, amount, Amounts.ZERO);
            case SPENT -> accounts.plus(Amounts.ZERO, Amounts.ZERO, amount);
            case FUNDING -> accounts;
        };
    }

    /**
     * I1: balances are the fold of the ledger, but for what open attempts have charged; never negative; and nothing comes
     * from nowhere or goes there.
     *
     * @param open what open attempts of a workspace have charged
     */
    public void check(Function<UUID, BigDecimal> open) {
        balances.forEach((workspace, is) -> {
            BigDecimal charged = open.apply(workspace);
            Accounts was = folded.getOrDefault(workspace, Accounts.NOTHING);
            Accounts expected = was.plus(Amounts.ZERO, charged, charged.negate());
            unless(is.equals(expected), "I1: balance %s, the ledger says %s", is, expected);
            unless(is.possible() && was.possible(), "I1: negative: %s, %s", is, was);
            unless(is.available.add(is.reserved).add(is.spent).compareTo(granted.get(workspace)) == 0,
                    "I1: %s is not what was granted: %s", is, granted.get(workspace));
            List<BigDecimal> parts = slots.get(workspace);
            unless(parts.stream().allMatch(part -> part.signum() >= 0)
                    && parts.stream().reduce(Amounts.ZERO, BigDecimal::add).compareTo(is.available) == 0,
                    "I1: the slots %s are not %s", parts, is);
        });
    }

    private static void unless(boolean holds, String law, Object... about) {
        if (!holds) {
            throw new IllegalStateException(law.formatted(about));
        }
    }
}
