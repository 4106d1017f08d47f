package io.keelson.server.tool;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * What the built-in tools of this server may touch. Set by whoever runs the server, never by a run.
 *
 * @param allowedRoots folders below which files can be read and processes started; relative paths in a call are
 *     relative to the first
 * @param allowedCommands names of executables, found on the server's {@code PATH}
 * @param allowPrivateAddresses whether {@code http.request} may connect to loopback, private and link-local addresses
 */
public record ToolPolicy(List<Path> allowedRoots, Set<String> allowedCommands, boolean allowPrivateAddresses) {

    private static final Set<String> DEFAULT_COMMANDS = Set.of("git");

    public ToolPolicy {
        allowedRoots = allowedRoots.stream().map(root -> root.toAbsolutePath().normalize()).toList();
        allowedCommands = Set.copyOf(allowedCommands);
        if (allowedRoots.isEmpty()) {
            throw new IllegalArgumentException("at least one allowed folder is needed");
        }
    }

    /** Files below the given folders, {@code git} to read, and no private addresses. */
    public static ToolPolicy of(List<Path> allowedRoots) {
        return new ToolPolicy(allowedRoots, DEFAULT_COMMANDS, false);
    }
}
