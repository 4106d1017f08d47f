package io.keelson.server.base.compute;

import io.keelson.server.base.db.Tenancy;
import java.util.UUID;
import java.util.concurrent.CancellationException;

/** Computation for a workspace outside of the budget of any run, scheduled fairly beside other workspaces. */
public final class UnbudgetedWork {

    private UnbudgetedWork() {}

    /** @throws CancellationException when the thread is interrupted, which it still is then */
    public static <T> T run(Computation computation, UUID workspace, ScopedValue.CallableOp<T, RuntimeException> work) {
        try {
            return computation.<T, RuntimeException>run(() -> new Computation.Owner(workspace, null),
                    () -> Tenancy.within(workspace, work));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException(e.getMessage());
        }
    }
}
