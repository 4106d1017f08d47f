package io.keelson.server.tenant.workspace;

import java.util.UUID;

/** The result of creating or changing a workspace. */
public sealed interface WorkspaceResult {

    record Is(WorkspaceRow row) implements WorkspaceResult {}

    /** @param by the open workspace with that name */
    record NameTaken(UUID by) implements WorkspaceResult {}

    /** The workspace would have more than {@link WorkspaceStore#MAX_LIMITS} limits. */
    record TooManyLimits() implements WorkspaceResult {}

    record NoWorkspace() implements WorkspaceResult {}
}
