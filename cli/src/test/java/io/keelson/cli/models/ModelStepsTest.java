package io.keelson.cli.models;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.devmodel.TestModel;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The example of models: a server that calls dev-model, and what it charges. */
class ModelStepsTest {

    private static final Path EXAMPLE = Path.of("../examples/models");

    @TempDir
    Path folder;

    @Test
    void exampleIsRepairedOnceAndChargedAsDevModelBilled() throws Exception {
        try (TestModel model = new TestModel(Files.readString(EXAMPLE.resolve("script.yaml")))) {
            Path models = Files.writeString(folder.resolve("models.yaml"),
                    Files.readString(EXAMPLE.resolve("models.yaml")).replace("http://127.0.0.1:7342/v1",
                            model.uri("/v1").toString()));
            try (InProcessCli cli = new InProcessCli(Files.createDirectory(folder.resolve("data")),
                    TestDatabase.createUrl(), Map.of("KEELSON_MODELS", models.toString()))) {
                Result run = cli.run("run", EXAMPLE.resolve("mission.yaml").toString(), "--json");

                assertThat(run.code()).as(run.out() + run.err()).isZero();
                JsonNode output = Json.read(run.out()).at("/run/output");
                assertThat(output.get("note").stringValue()).startsWith("Keelson resumes runs");
                assertThat(output.at("/review/verdict").stringValue()).isEqualTo("good");
                List<JsonNode> billed = model.journal();
                assertThat(billed).hasSize(3);
                JsonNode usage = Json.read(cli.run("usage", "--by", "model", "--json").out());
                assertThat(new BigDecimal(usage.at("/total/credits").asString())).as(billed.toString())
                        .isEqualByComparingTo("0.000122");
                assertThat(usage.at("/total/tokens").intValue()).isEqualTo(40 + 14 + 80 + 8 + 40 + 80 + 18);
            }
        }
    }

    @Test
    void goalBecomesVerifiedWorkThatAPersonAccepts() throws Exception {
        Path example = Path.of("../examples/goal");
        try (TestModel model = new TestModel(Files.readString(example.resolve("script.yaml")))) {
            Path models = Files.writeString(folder.resolve("models.yaml"),
                    Files.readString(example.resolve("models.yaml")).replace("http://127.0.0.1:7332",
                            model.uri("").toString()));
            try (InProcessCli cli = new InProcessCli(Files.createDirectory(folder.resolve("data")),
                    TestDatabase.createUrl(), Map.of("KEELSON_MODELS", models.toString(), "KEELSON_ALLOWED_FOLDERS",
                            folder.toString()))) {
                cli.lines("agents", "create", "--file", example.resolve("librarian.yaml").toString());
                cli.lines("agents", "create", "--file", example.resolve("writer.yaml").toString());
                Result run = cli.run("run", example.resolve("mission.yaml").toString(), "--json");

                assertThat(run.code()).as(run.out() + run.err()).isEqualTo(4);
                assertThat(cli.run("inbox", "--json").out()).contains("result_acceptance");
                cli.lines("approve", "latest", "--reason", "good");
                JsonNode ended = Json.read(cli.run("show", "latest", "--json").out());
                assertThat(ended.at("/run/state").asString()).isEqualTo("completed");
                JsonNode task = ended.path("tasks").valueStream()
                        .filter(each -> each.path("key").asString("").equals("write")).findFirst().orElseThrow();
                assertThat(task.path("attempt_number").asInt()).as("after a refusal").isEqualTo(2);
                assertThat(task.path("verifier_score").asDouble()).isEqualTo(0.92);
                assertThat(model.journal()).extracting(each -> each.path("rule").asString()).containsExactly("plan",
                        "look",
                        "pages", "first text", "refuse", "better text", "pass");
                BigDecimal billed = new BigDecimal("0.01195").add(new BigDecimal("0.000185"))
                        .add(new BigDecimal("0.0001675")).add(new BigDecimal("0.0001625"))
                        .add(new BigDecimal("0.00213")).add(new BigDecimal("0.00018")).add(new BigDecimal("0.00219"));
                assertThat(new BigDecimal(ended.at("/run/total_cost").asString())).isCloseTo(billed,
                        Offset.offset(new BigDecimal("0.000005")));
            }
        }
    }
}
