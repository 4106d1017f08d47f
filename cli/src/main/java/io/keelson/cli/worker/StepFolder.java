package io.keelson.cli.worker;

import io.keelson.client.worker.StepContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The folder of a step on this worker, with a path that is equal in all its executions: {@code input.json}, {@code out} for
 * artifacts, {@code work} and {@code home}. Only its owner may read it.
 */
record StepFolder(Path path, boolean startedBefore) {

    private static final Duration KEPT = Duration.ofDays(7);
    private static final String STARTED = "started";

    /**
     * Creates the folder of a step, or finds that of an earlier execution.
     *
     * @param root the folder of all steps
     */
    static StepFolder open(Path root, StepContext step) throws IOException {
        Path folder = root.resolve(UUID.fromString(step.stepId()).toString());
        boolean before = Files.exists(folder.resolve(STARTED));
        Files.createDirectories(root);
        if (!Files.exists(folder)) {
            Files.createDirectory(folder,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        return new StepFolder(folder, before);
    }

    /** Empties the folders of an earlier execution, and writes the step's input and the time of the first execution. */
    void prepare(StepContext step, Instant startedAt, boolean resumed) throws IOException {
        if (!resumed) {
            for (Path each : List.of(out(), work(), home())) {
                remove(each);
            }
        }
        for (Path each : List.of(out(), work(), home())) {
            Files.createDirectories(each);
        }
        Files.writeString(input(), step.input().toString());
        Files.writeString(path.resolve(STARTED), startedAt.toString());
    }

    /** A copy of the input for the standard input, which its reader removes. */
    Path standardInput() throws IOException {
        return Files.writeString(path.resolve("stdin"), Files.readString(input()));
    }

    Path input() {
        return path.resolve("input.json");
    }

    Path out() {
        return path.resolve("out");
    }

    Path work() {
        return path.resolve("work");
    }

    Path home() {
        return path.resolve("home");
    }

    /** The time of the first execution on this worker; the given one if there was none. */
    Instant startedAt(Instant now) throws IOException {
        try {
            return Instant.parse(Files.readString(path.resolve(STARTED), StandardCharsets.UTF_8));
        } catch (NoSuchFileException e) {
            return now;
        }
    }

    /** The files of {@code out}, without links, in the order of their names. */
    List<Path> artifacts() throws IOException {
        List<Path> files = new ArrayList<>();
        Files.walkFileTree(out(), new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (attributes.isRegularFile()) {
                    files.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return files.stream().sorted().toList();
    }

    void remove() throws IOException {
        remove(path);
    }

    /** Removes folders of steps that no program has used for a week. */
    static void removeOld(Path root, Instant now) throws IOException {
        if (!Files.isDirectory(root)) {
            return;
        }
        try (Stream<Path> folders = Files.list(root)) {
            for (Path folder : folders.toList()) {
                Path started = folder.resolve(STARTED);
                if (Files.exists(started)
                        && Files.getLastModifiedTime(started).toInstant().isBefore(now.minus(KEPT))) {
                    remove(folder);
                }
            }
        }
    }

    private static void remove(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path each, @Nullable IOException e)
                    throws IOException {
                Files.deleteIfExists(each);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
