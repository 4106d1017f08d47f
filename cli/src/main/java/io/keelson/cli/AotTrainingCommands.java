package io.keelson.cli;

import java.util.List;

/** The commands from which the JVM makes the start cache of commands that ask a running server ({@code scripts/aot-cache}). */
public final class AotTrainingCommands {

    /** All succeed where the newest run has ended. */
    static final List<List<String>> ALL = List.of(List.of("runs"), List.of("runs", "--where", "state=failed", "--json"),
            List.of("whoami"), List.of("show", "latest"), List.of("logs", "latest"), List.of("events", "latest"),
            List.of("explain", "latest"), List.of("inbox"), List.of("usage"), List.of("ledger", "latest"),
            List.of("tools"),
            List.of("--help"), List.of("show", "--help"), List.of("--version"));

    private AotTrainingCommands() {}

    /** @param arguments none */
    public static void main(String[] arguments) {
        ALL.forEach(command -> Main.run(command.toArray(String[]::new)));
        System.exit(0);
    }
}
