package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.core.Breadth;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program as a user has it: each command a process, on a data folder with its embedded database, and no server. */
class CommandLineTest {

    @TempDir
    static Path folder;

    @AfterEach
    void nothingIsLeftRunning() {
        CliProcess.assertNoneLeft(folder);
    }

    @Test
    void theFirstRunInAPipeMakesADataFolderAndLeavesItsArtifacts() throws Exception {
        Path out = folder.resolve("out");
        Files.createDirectories(folder.resolve("some"));
        Files.writeString(folder.resolve("some/a.txt"), "one\ntwo\n");
        Path fresh = folder.resolve("deep/fresh");
        Result run = CliProcess.start(fresh, Map.of(), "run", CliProcess.mission(folder, """
                inputs: {path: {type: string, format: path}}
                plan:
                  tasks:
                    - id: list
                      steps:
                        - {tool: files.list, input: {path: "${ .inputs.path }", lines: true, entries: false}}
                    - id: note
                      depends_on: [list]
                      steps:
                        - {tool: artifact.write, input: {name: n.txt, content: "${ .tasks.list.output.summary.lines | tostring }"}}
                """), "--input", "path=" + folder.resolve("some"), "--out", out.toString()).end();
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).contains(" list running\n", " note completed (", " run completed\n", "n.txt")
                .doesNotContain("\u001b").containsPattern("(?m)^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ run ");
        assertThat(out.resolve("n.txt")).hasContent("2");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(fresh))).isEqualTo("rwx------");
        Result read = CliProcess.start(fresh, Map.of(), "artifacts", "latest").end();
        assertThat(read.code()).isEqualTo(1);
        assertThat(read.err()).startsWith("error: no server is running for the data folder " + fresh)
                .contains("[NO_SERVER]").hasLineCount(1);
    }

    @Test
    @Breadth.InPart(0)
    void approvalWaitsWithoutAnyProcess() throws Exception {
        Result run = keelson("run", CliProcess.mission(folder, CliProcess.ASKS), "--json");
        assertThat(run.code()).as(run.err()).isEqualTo(4);
        CliProcess.assertNoneLeft(folder);
        Result approved = keelson("approve", run.json().at("/run/id").asString(), "--step", "sign-off", "--watch",
                "--json");
        assertThat(approved.code()).as(approved.err()).isZero();
        assertThat(approved.json().at("/run/state").asString()).isEqualTo("completed");
    }

    @Test
    @Breadth.InPart(1)
    void ctrlCKeepsTheRunWhichWatchCarriesOn() throws Exception {
        String mission =
                CliProcess.mission(folder, "plan: {tasks: [{id: nap, steps: [{tool: wait, input: {seconds: 6}}]}]}");
        CliProcess run = CliProcess.start(data(), Map.of(), "run", mission, "--name", "interrupted");
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(50))
                .until(() -> run.said().toString().contains("nap running"));
        run.interrupt();
        Result interrupted = run.end();
        assertThat(interrupted.code()).as(interrupted.out()).isEqualTo(130);
        assertThat(interrupted.err()).contains("the run is kept").contains("keelson watch ")
                .doesNotContain("Exception");
        String id = interrupted.err().replaceAll("(?s).*watch ([0-9a-f-]{36}).*", "$1");
        assertThat(keelson("watch", id).code()).isZero();
    }

    private static Path data() {
        return folder.resolve("data");
    }

    private static Result keelson(String... arguments) throws Exception {
        return CliProcess.start(data(), Map.of(), arguments).end();
    }
}
