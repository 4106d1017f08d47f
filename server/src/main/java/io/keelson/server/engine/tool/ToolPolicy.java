package io.keelson.server.engine.tool;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Permissions of this server's built-in tools. Set by the operator, never by a run.
 *
 * @param folders where files can be read and processes started
 * @param refused paths that are never read, also below those folders
 * @param allowedPrograms names of executables, found on the server's {@code PATH}
 * @param allowPrivateAddresses whether {@code http.request} may connect to loopback, private and link-local addresses
 */
public record ToolPolicy(Folders folders, RefusedPlaces refused, Set<String> allowedPrograms,
        boolean allowPrivateAddresses) {

    private static final Set<String> DEFAULT_COMMANDS = Set.of("git");

    /** The folders of each workspace. */
    public interface Folders {

        /**
         * Absolute; relative paths in a call are relative to the first. Empty if absent.
         *
         * @throws HandBackException when they cannot be known at this time
         */
        List<Path> of(UUID workspace);
    }

    public ToolPolicy {
        allowedPrograms = Set.copyOf(allowedPrograms);
    }

    /** A policy with the same folders for all workspaces. */
    public ToolPolicy(List<Path> folders, Set<String> allowedPrograms, boolean allowPrivateAddresses) {
        this(workspace -> folders, new RefusedPlaces(List.of()), allowedPrograms, allowPrivateAddresses);
    }

    /** Files below the given folders, {@code git} to read, and no private addresses. */
    public static ToolPolicy of(List<Path> folders) {
        return new ToolPolicy(folders, DEFAULT_COMMANDS, false);
    }
}
