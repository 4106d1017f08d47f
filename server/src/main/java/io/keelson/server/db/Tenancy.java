package io.keelson.server.db;

import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * For which workspace a thread asks the database. Within one, every connection of {@link Database} sees the rows of that
 * workspace only, whatever the statements ask for: the second fence, for the day on which somebody forgets the first.
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
