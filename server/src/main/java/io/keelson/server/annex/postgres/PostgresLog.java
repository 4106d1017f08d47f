package io.keelson.server.annex.postgres;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The log of one start of PostgreSQL: a file per day of the week in a folder of the data directory, and
 * {@code start.log} until it has opened that.
 */
final class PostgresLog {

    static final String FOLDER = "postgres-log";

    private static final int TAIL = 20;

    private final Path folder;
    private final Map<Path, Long> before = new HashMap<>();

    /** Starts here: ignores the earlier content of the log. */
    PostgresLog(Path folder) throws IOException {
        this.folder = folder;
        Files.deleteIfExists(startFile());
        for (Path file : files()) {
            before.put(file, Files.size(file));
        }
    }

    Path startFile() {
        return folder.resolve("start.log");
    }

    /** The last lines, each on a line of its own, for an error message. */
    String tail() throws IOException {
        List<String> lines = text().lines().toList();
        return "\n  " + String.join("\n  ", lines.subList(Math.max(0, lines.size() - TAIL), lines.size()));
    }

    private String text() throws IOException {
        var text = new StringBuilder();
        for (Path file : files()) {
            byte[] all = Files.readAllBytes(file);
            int from = before.getOrDefault(file, 0L).intValue();
            text.append(new String(all, Math.min(from, all.length), Math.max(0, all.length - from),
                    StandardCharsets.UTF_8));
        }
        return text.toString();
    }

    /** {@code start.log} first when sorted descending by name: "start" follows "postgres". */
    private List<Path> files() throws IOException {
        try (var files = Files.list(folder)) {
            return files.sorted().toList().reversed();
        }
    }
}
