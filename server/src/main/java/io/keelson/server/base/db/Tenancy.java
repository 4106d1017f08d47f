package io.keelson.server.base.db;

import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The workspace of a thread's queries. Within one, every connection of {@link Database} sees only that workspace's
 * rows: a second line of defence for a missing filter.
 */
public final class Tenancy {

    private static final ScopedValue<Optional<UUID>> WORKSPACE = ScopedValue.newInstance();

    private Tenancy() {}

    /** Does the work for one workspace, on this thread. */
    public static <T extends @Nullable Object, X extends Throwable> T within(UUID workspace,
            ScopedValue.CallableOp<T, X> work) throws X {
        return ScopedValue.where(WORKSPACE, Optional.of(workspace)).call(work);
    }

    /** Does work that concerns all workspaces, whomever the thread serves. */
    public static <T extends @Nullable Object, X extends Throwable> T allWorkspaces(ScopedValue.CallableOp<T, X> work)
            throws X {
        return ScopedValue.where(WORKSPACE, Optional.empty()).call(work);
    }

    /** Null for all. */
    static @Nullable UUID workspace() {
        return WORKSPACE.isBound() ? WORKSPACE.get().orElse(null) : null;
    }
}
