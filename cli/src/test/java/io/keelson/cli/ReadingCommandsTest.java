package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Commands where no server runs: those that only read say so, and start none. */
class ReadingCommandsTest {

    /** They execute or change something, so that they may start a server. */
    private static final Set<String> MAY_START = Set.of("run", "watch", "pause", "resume", "cancel", "fail", "retry",
            "replan", "undo", "archive restore",
            "fork", "budget", "delete", "task", "signal", "bulk stop", "approve", "reject", "resolve", "inbox assign",
            "inbox withdraw", "approvals set", "notifications add", "notifications change",
            "notifications mine change", "notifications mine delete", "cache clear",
            "recipes save", "recipes create", "recipes delete", "schedules create", "schedules pause",
            "schedules resume",
            "schedules trigger", "schedules backfill", "schedules delete", "triggers create", "triggers replay",
            "triggers on", "triggers off", "triggers delete", "triggers send", "versions promote", "versions rollback",
            "versions clear", "agents create", "agents update",
            "agents delete",
            "mcp add", "mcp remove", "mcp check", "mcp allow", "mcp accept", "secrets set", "secrets remove",
            "orders cancel",
            "deployments stop", "webhooks create", "webhooks enable", "webhooks disable", "webhooks rotate",
            "webhooks ping",
            "webhooks redeliver", "webhooks delete", "credits grant", "credits adjust", "prices set", "prices remove",
            "server", "test-server", "workspaces create", "workspaces close", "workspaces delete", "keys create",
            "keys rotate",
            "keys revoke", "eval", "database accept");

    /** Commands that execute missions, and servers: they make an installation if it is absent. */
    private static final Set<String> MAKE_INSTALLATIONS = Set.of("run", "eval", "server", "test-server");

    /** A name for each parameter; the worker looks for a program of this name. */
    private static final String NAME = "sh";

    /** They ask no server, or answer without one. */
    private static final Set<String> NEED_NONE =
            Set.of("doctor", "backup", "restore", "artifacts move", "artifacts adopt", "keys generate", "init",
                    "validate", "tools",
                    "lifecycles",
                    "models check", "dev-model", "help", "completion");

    @TempDir
    private Path folder;

    /** A call of each of the other commands. */
    static Stream<List<String>> reading() {
        return calls(Cli.commandLine(Clock.systemUTC(), Map.of()), List.of())
                .filter(call -> !named(MAY_START, call) && !named(NEED_NONE, call));
    }

    @ParameterizedTest
    @MethodSource("reading")
    void readingStartsNoServer(List<String> call) {
        Path data = folder.resolve("data");

        Result result = InProcessCli.run(Map.of("KEELSON_DATA_DIR", data.toString()), call.toArray(String[]::new));

        assertThat(result.err()).startsWith("error: no server is running for the data folder " + data
                + ": start one with `keelson server`, or set KEELSON_URL [NO_SERVER]");
        assertThat(result.code()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(data).doesNotExist();
    }

    /** A call of each command that changes something, except commands that execute a mission or start a server. */
    static Stream<List<String>> changing() {
        return calls(Cli.commandLine(Clock.systemUTC(), Map.of()), List.of())
                .filter(call -> named(MAY_START, call) && !named(MAKE_INSTALLATIONS, call));
    }

    @ParameterizedTest
    @MethodSource("changing")
    void changingMakesNoInstallation(List<String> call) {
        Path data = folder.resolve("data");

        Result result = InProcessCli.run(Map.of("KEELSON_DATA_DIR", data.toString()), call.toArray(String[]::new));

        assertThat(result.code()).isIn(1, 2);
        assertThat(data).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"credits grant 5 --reason x", "approve latest", "approve latest --watch", "watch latest",
            "secrets remove NAME"})
    void changingNamesTheFolderWithoutAnInstallation(String call) {
        Result result = InProcessCli.run(Map.of("KEELSON_DATA_DIR", folder.toString()), call.split(" "));

        assertThat(result.err()).startsWith("error: no server is running for the data folder " + folder
                + ", and it has no installation: set KEELSON_DATA_DIR to the folder of one, or KEELSON_URL, or make one with"
                + " `keelson server` [NO_SERVER]");
        assertThat(result.code()).isEqualTo(1);
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void aFileLeftByAServerThatDiedIsNoServer() throws Exception {
        Files.writeString(folder.resolve("url"), "http://127.0.0.1:1");

        Result result = InProcessCli.run(Map.of("KEELSON_DATA_DIR", folder.toString()), "runs", "--json");

        assertThat(result.json().get("code").asString()).isEqualTo("NO_SERVER");
        assertThat(result.code()).isEqualTo(1);
        assertThat(folder.resolve("postgres")).doesNotExist();
    }

    private static boolean named(Set<String> names, List<String> call) {
        return IntStream.rangeClosed(1, call.size())
                .anyMatch(n -> names.contains(String.join(" ", call.subList(0, n))));
    }

    private static Stream<List<String>> calls(CommandLine command, List<String> path) {
        Stream<List<String>> own = path.isEmpty() ? Stream.of() : Stream.of(call(command.getCommandSpec(), path));
        return Stream.concat(own, command.getSubcommands().entrySet().stream().flatMap(each -> {
            List<String> below = new ArrayList<>(path);
            below.add(each.getKey());
            return calls(each.getValue(), below);
        }));
    }

    private static List<String> call(CommandSpec spec, List<String> path) {
        List<String> words = new ArrayList<>(path);
        for (PositionalParamSpec parameter : spec.positionalParameters()) {
            words.addAll(Collections.nCopies(parameter.arity().min(), NAME));
        }
        for (OptionSpec option : spec.options()) {
            if (option.required() && option.group() == null) {
                words.add(option.longestName() + "=x");
            }
        }
        return words;
    }
}
