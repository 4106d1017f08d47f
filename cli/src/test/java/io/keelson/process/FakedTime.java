package io.keelson.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The wall clock of a process and its children, by the library of Debian's package {@code faketime}. The monotonic clock is right, as
 * on a machine whose clock is set.
 */
final class FakedTime {

    private static final String LIBRARY = "faketime/libfaketimeMT.so.1";

    private final Path library;
    private final Path file;

    /** @param file for the time */
    FakedTime(Path library, Path file, Duration ahead) throws IOException {
        this.library = library;
        this.file = file;
        set(ahead);
    }

    /** The library; empty without the package. */
    static Optional<Path> library() throws IOException {
        try (Stream<Path> folders = Files.list(Path.of("/usr/lib"))) {
            return folders.map(each -> each.resolve(LIBRARY)).filter(Files::exists).findAny();
        }
    }

    /** Sets the clock; processes read it within a second. */
    void set(Duration ahead) throws IOException {
        Path next = Files.writeString(file.resolveSibling(file.getFileName() + ".next"),
                "%+d".formatted(ahead.toSeconds()));
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** The program that starts another one under this clock. Without the last setting timed waits of a JVM end at once. */
    List<String> command() {
        return List.of("env", "LD_PRELOAD=" + library, "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_CACHE_DURATION=1",
                "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1", "FAKETIME_FORCE_MONOTONIC_FIX=0");
    }
}
