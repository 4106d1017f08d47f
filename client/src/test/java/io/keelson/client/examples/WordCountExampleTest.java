package io.keelson.client.examples;

import static io.keelson.client.worker.DispatchPeer.S1;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.worker.DispatchPeer;
import io.keelson.client.worker.DispatchPeer.Reported;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The example's worker, in a process of its own. */
class WordCountExampleTest {

    private static final int LONG_MS = 600_000;

    @TempDir
    private static Path classes;

    @TempDir
    private Path folder;

    private final DispatchPeer peer = new DispatchPeer();
    private Process worker;

    @BeforeAll
    static void compile() throws IOException {
        assertThat(Sources.compile(Sources.examples(), classes)).isEmpty();
    }

    @BeforeEach
    void write() throws IOException {
        Files.writeString(folder.resolve("a.md"), "one two\nthree\n");
        Files.writeString(folder.resolve("b.md"), "  four\tfive\n\nsix seven");
        Files.writeString(Files.createDirectory(folder.resolve("c")).resolve("d.md"), "eight\n");
        Files.writeString(folder.resolve("e.txt"), "not counted\n");
        start();
    }

    @AfterEach
    void stop() throws InterruptedException {
        worker.destroyForcibly().waitFor();
        peer.close();
    }

    @Test
    void countsAndTellsHowFarItIs() throws Exception {
        peer.offer(S1, step(folder, 0));

        Reported last = peer.next(reported -> reported.item().has("progress"));
        assertThat(last.item().path("progress").path("message").asString()).endsWith("of 3 files");
        Reported result = endAfter(last);
        assertThat(result.kind()).isEqualTo("complete");
        assertCounted(result.item().path("output"));
    }

    /** The report of the step's end, which may itself carry the last progress and logs. */
    private Reported endAfter(Reported report) throws InterruptedException {
        return report.kind().equals("heartbeat") ? peer.next() : report;
    }

    @Test
    void theNextWorkerCarriesOnWhereAStoppedOneWas() throws Exception {
        peer.offer(S1, step(folder, LONG_MS));
        JsonNode details = peer.next(reported -> reported.item().has("details")).item().path("details");
        assertThat(details.path("files").asInt()).isEqualTo(1);

        worker.destroy();
        assertThat(peer.next().kind()).as("what is not finished is handed back").isEqualTo("release");
        assertThat(worker.waitFor(20, TimeUnit.SECONDS)).isTrue();
        start();
        peer.offer(S1, Map.of("tool", "text.wordcount", "lease_epoch", 8, "details", details, "input",
                Map.of("path", folder.toString(), "suffix", ".md", "pause_ms", 0)));

        Reported logged = peer.next(reported -> reported.item().has("logs"));
        JsonNode logs = logged.item().path("logs");
        assertThat(logs.path(0).asString()).isEqualTo("carrying on after " + folder.resolve("a.md"));
        assertCounted(endAfter(logged).item().path("output"));
    }

    @Test
    void aFolderThatIsNotThereIsAPermanentFailure() throws Exception {
        peer.offer(S1, step(folder.resolve("none"), 0));

        Reported failure = peer.next();
        assertThat(failure.kind()).isEqualTo("fail");
        assertThat(failure.item().path("error_code").asString()).isEqualTo("FOLDER_NOT_READABLE");
        assertThat(failure.item().path("error_class").asString()).isEqualTo("permanent");
    }

    private static Map<String, Object> step(Path path, int pause) {
        return Map.of("tool", "text.wordcount",
                "input", Map.of("path", path.toString(), "suffix", ".md", "pause_ms", pause));
    }

    private void assertCounted(JsonNode output) {
        assertThat(output.path("files").asInt()).isEqualTo(3);
        assertThat(output.path("lines").asInt()).isEqualTo(5);
        assertThat(output.path("words").asInt()).isEqualTo(8);
        assertThat(output.path("last").asString()).isEqualTo(folder.resolve("c/d.md").toString());
    }

    private void start() throws IOException {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        String path = classes + File.pathSeparator + System.getProperty("java.class.path");
        ProcessBuilder process = new ProcessBuilder(java.toString(), "-XX:TieredStopAtLevel=1", "-cp", path,
                "WordCountWorker");
        process.environment().put("KEELSON_URL", peer.url());
        process.environment().put("KEELSON_API_KEY", "key-1");
        worker = process.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    }
}
