package io.keelson.server.workspace;

import java.util.UUID;

/** What became of the wish to make or change a workspace. */
public sealed interface WorkspaceResult {

    record Is(WorkspaceRow row) implements WorkspaceResult {}

    /** @param by the open workspace that bears it */
    record NameTaken(UUID by) implements WorkspaceResult {}

    record NoWorkspace() implements WorkspaceResult {}
}
