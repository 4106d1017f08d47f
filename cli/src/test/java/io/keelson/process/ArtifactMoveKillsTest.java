package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.server.annex.s3.ObjectStoreProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Moves of artifacts between folder and object store that are killed five times each way. */
@EnabledIfSystemProperty(named = "keelson.long", matches = "true")
class ArtifactMoveKillsTest {

    private static final int KILLS = 5;
    private static final int ALL = 60;
    /** Files that the command copies before each kill. */
    private static final int COPIED = 4;

    @TempDir
    Path folder;

    @Test
    void killedMovesContinueBothWays() throws Exception {
        Path data = folder.resolve("data");
        Map<String, String> store = new HashMap<>(ObjectStoreProcess.shared().variables());
        String place = store.remove("KEELSON_ARTIFACTS");
        String run;
        try (ServerProcess server = ServerProcess.start(data, store)) {
            Keelson client = server.client();
            String content = "x".repeat(10_000);
            run = client.runs().execute(RunRequest.of(Mission.named("moved").task("a", task -> {
                for (int i = 0; i < ALL; i++) {
                    task.step("write-" + i, "artifact.write", Map.of("name", i + ".txt", "content", content + i));
                }
                return task;
            }).toJson()).start(), Duration.ofMinutes(2)).id();
            killed(data, store, ArtifactMoveKillsTest::objects, "artifacts", "move", "--to", place);
        }
        assertThat(CliProcess.start(data, store, "artifacts", "move", "--to", place, "--remove").end().code()).isZero();
        Map<String, String> there = new HashMap<>(store);
        there.put("KEELSON_ARTIFACTS", place);
        assertReadable(data, there, run);
        killed(data, there, () -> files(data.resolve("artifacts")), "artifacts", "move", "--to", "folder");
        assertReadable(data, store, run);
    }

    private static long objects() throws IOException {
        return ObjectStoreProcess.shared().objects().stream().filter(ArtifactMoveKillsTest::isArtifact).count();
    }

    private static long files(Path store) throws IOException {
        try (Stream<Path> files = Files.walk(store)) {
            return files.filter(Files::isRegularFile).map(Path::toString).filter(ArtifactMoveKillsTest::isArtifact)
                    .count();
        }
    }

    private static boolean isArtifact(String path) {
        return path.matches(".*/\\d+-\\d+/[0-9a-f-]{36}");
    }

    /** Kills the command each time that it has copied some files, and then lets it end. */
    private static void killed(Path data, Map<String, String> environment, Callable<Long> present, String... command)
            throws Exception {
        for (int i = 0; i < KILLS; i++) {
            long before = present.call();
            CliProcess process = CliProcess.start(data, environment, command);
            Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(5))
                    .until(() -> present.call() >= before + COPIED);
            process.process().destroyForcibly().onExit().join();
            assertThat(present.call()).isBetween(before + COPIED, ALL - 1L);
        }
        CliProcess.Result result = CliProcess.start(data, environment, command).end();
        assertThat(result.code()).as(result.err()).isZero();
        assertThat(result.out()).contains("60 files;");
    }

    private void assertReadable(Path data, Map<String, String> environment, String run) throws Exception {
        try (ServerProcess server = ServerProcess.start(data, environment)) {
            CliProcess.Result copies = CliProcess.start(data, environment, "show", run, "--out",
                    folder.resolve("out").toString()).end();
            assertThat(copies.code()).as(copies.err()).isZero();
        }
        try (var files = Files.walk(folder.resolve("out"))) {
            assertThat(files.filter(each -> each.toString().endsWith("59.txt")).toList()).isNotEmpty();
        }
    }
}
