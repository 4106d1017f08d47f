package io.keelson.server.engine.store;

import io.keelson.core.decide.ChangeSet.Balance;
import java.math.BigDecimal;
import java.util.List;
import java.util.UUID;

/**
 * The slots of workspaces' balances that a commit changes. Commits that change different slots do not wait for each other.
 */
@FunctionalInterface
public interface CreditSlots {

    /**
     * A change of one slot; the reserved credits follow from it.
     *
     * @param available credits to add to the slot's available ones, negative to withdraw them
     * @param spent credits to add to the slot's spent ones
     * @param decided whether all slots of the balance are locked, and their sum has decided
     */
    record SlotChange(UUID workspaceId, int slot, BigDecimal available, BigDecimal spent, boolean decided) {}

    /** Divides the change of a workspace's balance among its slots. */
    List<SlotChange> divide(Balance change);

    /** One slot of every workspace. */
    static CreditSlots only(int slot) {
        return change -> List.of(new SlotChange(change.workspaceId(), slot, change.available(), change.spent(),
                false));
    }
}
