package io.keelson.server.base.compute;

import io.keelson.server.base.db.Tenancy;
import java.util.UUID;
import java.util.concurrent.CancellationException;

/** Work for a workspace that no run's budget pays for, in its turn among what is computed for tenants. */
public final class Turns {

    private Turns() {}

    /** @throws CancellationException when the thread is interrupted, which it still is then */
    public static <T> T of(Computation computation, UUID workspace, ScopedValue.CallableOp<T, RuntimeException> work) {
        try {
            return computation.<T, RuntimeException>run(() -> new Computation.Owner(workspace, null),
                    () -> Tenancy.within(workspace, work));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException(e.getMessage());
        }
    }
}
