package io.keelson.bench.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** PostgreSQL's log, in which statements stand that were asked to. */
public final class StatementLog {
    private static final Pattern STATEMENT = Pattern.compile("LOG: +(statement|execute [^:]+): ");

    private final Path folder;

    StatementLog(Path folder) {
        this.folder = folder;
    }

    /** Statements in the log so far. */
    public long count() throws IOException {
        long count = 0;
        try (Stream<Path> logs = Files.list(folder)) {
            for (Path log : logs.toList()) {
                count += STATEMENT.matcher(Files.readString(log)).results().count();
            }
        }
        return count;
    }
}
