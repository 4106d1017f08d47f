package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess;
import io.keelson.client.Keelson;
import io.keelson.client.RunQuery;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Seconds of backups and restores by size, undisturbed and killed in the middle. Prints the table of
 * <a href="../../../../../../../docs/operate/backup.md">backup</a>. {@code -Dkeelson.backup.megabytes=10,100,1000} selects the sizes of
 * database and artifacts together.
 */
@EnabledIfSystemProperty(named = "keelson.long", matches = "true")
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class BackupSizesTest {

    private static final int MEGABYTE = 1_000_000;
    private static final int CONTENT_BYTES = 120_000;
    private static final int CALLERS = 4;
    private static final int BATCH = 20;
    private static final Duration POLL = Duration.ofMillis(5);
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private final Random random = new Random(1);
    private int runs;
    /** Bytes of an installation without runs. */
    private long empty;

    @TempDir
    private Path folder;

    @Test
    void backupsAndRestoresOfEachSizeAreWhole() throws Exception {
        System.out.println("""
                | size | rows | runs | artifacts | folder of the backup | backup | verify | restore | backup, killed | restore, killed |
                |---|---|---|---|---|---|---|---|---|---|""");
        Path data = folder.resolve("data");
        for (String megabytes : System.getProperty("keelson.backup.megabytes", "10,100").split(",")) {
            try (ServerProcess server = ServerProcess.start(data, Map.of())) {
                if (empty == 0) {
                    empty = bytes(data);
                }
                while (bytes(data) - empty < Long.parseLong(megabytes) * MEGABYTE) {
                    fill(server.client());
                }
            }
            measure(data);
        }
    }

    /** Runs with an artifact of its own each, and a cost. */
    private void fill(Keelson client) throws Exception {
        try (ExecutorService callers = Executors.newFixedThreadPool(CALLERS)) {
            List<Future<?>> calls = IntStream.range(0, BATCH).mapToObj(each -> {
                byte[] content = new byte[CONTENT_BYTES];
                random.nextBytes(content);
                Mission mission = Mission.named("sized").task("a", task -> task
                        .step("write", "artifact.write",
                                Map.of("name", "n.txt", "content", Base64.getEncoder().encodeToString(content)))
                        .step("pay", "noop", Map.of("cost", 0.01)));
                return callers.submit(() -> client.runs().execute(RunRequest.of(mission.toJson()).start(), LIMIT));
            }).<Future<?>>map(each -> each).toList();
            for (Future<?> call : calls) {
                call.get();
            }
        }
        runs += BATCH;
    }

    /** Bytes of the tables and the artifacts, without the log of the database. */
    private static long bytes(Path data) throws IOException {
        return size(data.resolve("postgres/base")) + size(data.resolve("artifacts"));
    }

    private static long size(Path folder) throws IOException {
        if (Files.notExists(folder)) {
            return 0;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).mapToLong(file -> {
                try {
                    return Files.size(file);
                } catch (IOException e) {
                    return 0; // a temporary file that is gone
                }
            }).sum();
        } catch (UncheckedIOException e) {
            return 0; // a folder that is made right now
        }
    }

    private void measure(Path data) throws Exception {
        long size = bytes(data) - empty;
        Path backup = folder.resolve("backup");
        Duration written = time(data, "backup", backup.toString(), "--json");
        JsonNode manifest = CliProcess.start(data, Map.of(), "backup", backup.toString(), "--verify", "--json").end()
                .json();
        Duration verified = time(data, "backup", backup.toString(), "--verify");
        Path restored = folder.resolve("restored");
        Files.createDirectories(restored);
        Files.copy(data.resolve("secret-key"), restored.resolve("secret-key"));
        Duration read = time(restored, "restore", backup.toString());
        delete(restored);

        Path resumedBackup = folder.resolve("resumed-backup");
        long half = size(backup) / 2;
        Duration writtenAgain =
                killedInTheMiddle(() -> size(resumedBackup) > half, data, "backup", resumedBackup.toString());
        Path resumed = folder.resolve("resumed");
        Files.createDirectories(resumed);
        Files.copy(data.resolve("secret-key"), resumed.resolve("secret-key"));
        Duration readAgain = killedInTheMiddle(() -> bytes(resumed) - empty > size / 2, resumed, "restore",
                resumedBackup.toString());
        try (ServerProcess server = ServerProcess.start(resumed, Map.of())) {
            CliProcess.Result ledger = CliProcess.start(resumed, Map.of(), "ledger", "verify", "--all").end();
            assertThat(ledger.code()).as(ledger.err()).isZero();
            assertThat(server.client().runs().list(RunQuery.all()).items()).allMatch(run -> run.completed());
        }
        assertThat(size(resumed.resolve("artifacts"))).isEqualTo(size(data.resolve("artifacts")));
        System.out.printf("| %d MB | %s | %d | %d MB | %d MB | %.1f s | %.1f s | %.1f s | %.1f s | %.1f s |%n",
                size / MEGABYTE,
                manifest.path("rows").asString("?"), runs, size(data.resolve("artifacts")) / MEGABYTE,
                size(backup) / MEGABYTE, seconds(written), seconds(verified), seconds(read), seconds(writtenAgain),
                seconds(readAgain));
        System.out.printf("load %.1f%n", ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
        for (Path each : List.of(backup, resumedBackup, resumed)) {
            delete(each);
        }
    }

    private interface Progress {
        boolean atHalf() throws IOException;
    }

    /** Kills the command at half of its bytes, and returns the time of both calls. */
    private static Duration killedInTheMiddle(Progress progress, Path data, String... command) throws Exception {
        long begun = System.nanoTime();
        CliProcess first = CliProcess.start(data, Map.of(), command);
        boolean ended = false;
        while (!ended && !progress.atHalf()) {
            ended = first.process().waitFor(POLL);
        }
        assertThat(ended).as("%s ended early", Arrays.toString(command)).isFalse();
        first.process().destroyForcibly().onExit().join();
        time(data, command);
        return Duration.ofNanos(System.nanoTime() - begun);
    }

    private static Duration time(Path data, String... command) throws Exception {
        long begun = System.nanoTime();
        CliProcess process = CliProcess.start(data, Map.of(), command);
        assertThat(process.process().waitFor(LIMIT.multipliedBy(2))).isTrue();
        CliProcess.Result result = process.end();
        assertThat(result.code()).as(result.err()).isZero();
        return Duration.ofNanos(System.nanoTime() - begun);
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1000.0;
    }

    private static void delete(Path root) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }
}
