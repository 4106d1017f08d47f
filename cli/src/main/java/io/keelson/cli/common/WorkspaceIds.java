package io.keelson.cli.common;

import io.keelson.api.tenant.Workspace;
import io.keelson.client.Keelson;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Ids of workspaces that are named on the command line. */
public final class WorkspaceIds {

    private WorkspaceIds() {}

    /** @return null for the caller's own workspace, if none is given */
    public static @Nullable String ofOrOwn(Keelson keelson, @Nullable String given) {
        return given == null ? null : of(keelson, given);
    }

    /** @param given an id, or the name of the only open workspace, otherwise of the only closed one */
    public static String of(Keelson keelson, String given) {
        if (given.matches("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")) {
            return given;
        }
        List<Workspace> named = keelson.workspaces().list().stream().filter(each -> each.name().equals(given)).toList();
        List<Workspace> open = named.stream().filter(each -> each.state().equals("open")).toList();
        List<String> found = (open.isEmpty() ? named : open).stream().map(Workspace::id).toList();
        if (found.size() != 1) {
            throw CliException.failed("WORKSPACE_NOT_FOUND", found.isEmpty() ? "no workspace is named " + given
                    : "several workspaces are named " + given + ": " + String.join(", ", found));
        }
        return found.getFirst();
    }
}
