package io.keelson.server.engine.store;

import io.keelson.core.decide.ChangeSet.Balance;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.LockedBalances;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.UUID;

/** All slots of some workspaces, locked. A change leaves the workspace's available credits in equal shares. */
public final class LockedCredits implements CreditSlots {
    private final Map<UUID, SortedMap<Integer, BigDecimal>> slots;
    private final Map<UUID, BigDecimal> withheld;

    /**
     * @param slots by workspace the available credits of each slot
     * @param withheld by workspace the credits that its limit of the month does not leave to runs
     */
    LockedCredits(Map<UUID, SortedMap<Integer, BigDecimal>> slots, Map<UUID, BigDecimal> withheld) {
        this.slots = slots;
        this.withheld = withheld;
    }

    /** The available credits of the workspaces: the sums of their slots. */
    public LockedBalances balances() {
        Map<UUID, BigDecimal> available = new HashMap<>();
        slots.forEach((workspace, parts) -> available.put(workspace, sum(parts)));
        return new LockedBalances(available, withheld);
    }

    /** @throws BalanceTooLowException when the workspace has no slots */
    @Override
    public List<SlotChange> divide(Balance change) {
        SortedMap<Integer, BigDecimal> parts = slots.get(change.workspaceId());
        if (parts == null) {
            throw new BalanceTooLowException("workspace " + change.workspaceId() + " has no balance");
        }
        Iterator<BigDecimal> shares = Amounts.split(sum(parts).add(change.available()), parts.size()).iterator();
        List<SlotChange> changes = new ArrayList<>();
        BigDecimal spent = change.spent();
        for (Map.Entry<Integer, BigDecimal> part : parts.entrySet()) {
            changes.add(new SlotChange(change.workspaceId(), part.getKey(), shares.next().subtract(part.getValue()),
                    spent, true));
            spent = Amounts.ZERO;
        }
        return changes;
    }

    private static BigDecimal sum(SortedMap<Integer, BigDecimal> parts) {
        return parts.values().stream().reduce(Amounts.ZERO, BigDecimal::add);
    }
}
