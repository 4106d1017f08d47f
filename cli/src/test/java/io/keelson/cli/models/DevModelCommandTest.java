package io.keelson.cli.models;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess;
import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.devmodel.TestModel;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.plan.Documents;
import io.keelson.server.mission.plan.Format;
import io.keelson.server.mission.plan.ReadResult;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The command: its options, the problems of a script, and its end. */
class DevModelCommandTest {

    private static final Pattern YAML = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL);

    @TempDir
    static Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
            "rules: [{answer: {txt: hi}}]|/rules/0/answer/txt: unknown key 'txt'|(line 1)|UNKNOWN_KEY",
            "rules: [{answer: {txt: hi}}]|did you mean 'text'|(line 1)|UNKNOWN_KEY",
            "rules:\\n- answer: {}\\n  wen: {}|/rules/0/wen|(line 3)|UNKNOWN_KEY",
            "rules:\\n- when: {turn: 0}\\n  answer: {}|/rules/0/when/turn|(line 2)|OUT_OF_RANGE",
            "rules:\\n- when: {wire: telex}\\n  answer: {}|/rules/0/when/wire|(line 2)|INVALID_VALUE",
            "rules:\\n- answer: {status: 200}|/rules/0/answer/status|(line 2)|OUT_OF_RANGE",
            "rules:\\n- answer: {text: a,\\n    json: {}}|'text' or 'json', not both|(line 3)|CONFLICT",
            "rules:\\n- answer: {status: 500,\\n    text: a}|not both|(line 3)|CONFLICT",
            "rules:\\n- answer: {error: {code: x}}|an 'error' needs a 'status'|(line 2)|REQUIRED",
            "rules:\\n- answer: {usage: {output: 1, reasoning: 2}}|cannot be more|(line 2)|OUT_OF_RANGE",
            "rules:\\n- answer:\\n    calls: [{tool: t, input: {}, arguments: x}]|'input' or 'arguments'|(line 3)|CONFLICT",
            "rules:\\n- answer: {calls: [{input: {}}]}|'tool' must be given|(line 2)|REQUIRED",
            "rules:\\n- answer: {headers: {a: \"b\\x0Ac: d\"}}|one line|(line 2)|INVALID_VALUE",
            "rules:\\n- {}|'answer' must be given|(line 2)|REQUIRED",
            "models: [m]|'rules' must be given|script.yaml|REQUIRED",
            "rules: {|expected|(line 1|MALFORMED_YAML", "- rules|a script is an object|script.yaml|WRONG_TYPE"})
    void aBadScriptIsRefusedWithItsPlace(String yaml, String message, String place, String code) throws Exception {
        Path script = Files.writeString(folder.resolve("script.yaml"), yaml.replace("\\n", "\n"));

        Result result = InProcessCli.run(Map.of(), "dev-model", "--script", script.toString());

        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains(message, place, "[" + code + "]");
    }

    @Test
    void otherErrorsSayWhatIsWrong() throws Exception {
        assertThat(InProcessCli.run(Map.of(), "dev-model", "--script", "absent.yaml").err())
                .contains("[FILE_NOT_FOUND]");
        assertThat(InProcessCli.run(Map.of(), "dev-model", "--script", folder.toString()).err())
                .contains("is a folder, not a script file");
        assertThat(InProcessCli.run(Map.of(), "dev-model", "--port", "65536").err()).contains("[INVALID_PORT]");
        assertThat(InProcessCli.run(Map.of(), "dev-model", "--host", "no such host").err()).contains("[INVALID_HOST]");
        assertThat(InProcessCli.run(Map.of(), "dev-model", "--journal", folder.resolve("no/journal").toString()).err())
                .contains("[FILE_UNWRITABLE]");
        assertThat(InProcessCli.run(Map.of(), "dev-model", "--host", "192.0.2.1").err())
                .contains("[ADDRESS_NOT_USABLE]");
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Result result = InProcessCli.run(Map.of(), "dev-model", "--port", Integer.toString(taken.getLocalPort()));
            assertThat(result.code()).isEqualTo(1);
            assertThat(result.err()).contains("[PORT_IN_USE]");
        }
    }

    /** picocli resolves the signatures of all commands, whichever is called. */
    @Test
    void otherCommandsLoadNoOtherClassOfThePackage() {
        assertThat(Stream.of(DevModelCommand.class.getDeclaredMethods())
                .flatMap(each -> Stream.concat(Stream.of(each.getReturnType()), Stream.of(each.getParameterTypes()))))
                .noneMatch(each -> each.getPackage() == DevModelCommand.class.getPackage());
    }

    @Test
    void theExampleAnswersUntilItIsStopped() throws Exception {
        Path journal = folder.resolve("journal.jsonl");
        CliProcess model = CliProcess.start(folder, Map.of(), "dev-model", "--port", "0", "--json", "--script",
                Path.of("..", "examples", "dev-model.yaml").toString(), "--journal", journal.toString());
        try {
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> model.said().toString().contains("}"));
            String url = Json.read(model.said().toString()).get("url").stringValue();
            assertThat(url).startsWith("http://127.0.0.1:");
            try (HttpClient client = HttpClient.newHttpClient()) {
                HttpRequest request = HttpRequest.newBuilder(URI.create(url + TestModel.MESSAGES))
                        .POST(BodyPublishers.ofString(TestModel.request(TestModel.MESSAGES, "x", "")
                                .replace("\"m\"", "\"small\"")))
                        .build();
                assertThat(client.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(529);
                assertThat(client.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
            }
        } finally {
            model.process().destroy();
        }
        assertThat(model.end().code()).isEqualTo(143);
        assertThat(Files.readAllLines(journal)).hasSize(2);
    }

    @Test
    void scriptsOfThePageAreValid() throws Exception {
        Matcher blocks = YAML.matcher(Files.readString(Path.of("..", "docs", "guide", "dev-model.md")));
        List<String> scripts = blocks.results().map(each -> each.group(1)).toList();

        assertThat(scripts).isNotEmpty().allSatisfy(script -> {
            JsonNode document = ((ReadResult.Ok<JsonNode>) Documents
                    .read(script.getBytes(StandardCharsets.UTF_8), Format.YAML)).value();
            assertThat(DevModelStart.problems(document)).isEmpty();
        });
    }
}
