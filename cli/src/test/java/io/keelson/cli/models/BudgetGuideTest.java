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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The example of docs/guide/budgets.md: its files run as they are there, and its numbers are those of the run. */
class BudgetGuideTest {
    private static final Path GUIDE = Path.of("").toAbsolutePath().getParent().resolve("docs/guide/budgets.md");

    private static String file(String guide, String name) {
        Matcher block = Pattern.compile("```yaml\n# " + name + "\n(.*?)```", Pattern.DOTALL).matcher(guide);
        assertThat(block.find()).as(name).isTrue();
        return block.group(1);
    }

    @Test
    void theExampleCostsWhatTheGuideSays(@TempDir Path folder) throws Exception {
        String guide = Files.readString(GUIDE);
        try (TestModel model = new TestModel(file(guide, "script.yaml"))) {
            Path models = Files.writeString(folder.resolve("models.yaml"),
                    file(guide, "models.yaml").replace("http://127.0.0.1:4100", model.uri("").toString()));
            Path mission = Files.writeString(folder.resolve("mission.yaml"), file(guide, "weather.yaml"));
            try (InProcessCli cli = new InProcessCli(Files.createDirectory(folder.resolve("data")),
                    TestDatabase.createUrl(), Map.of("KEELSON_MODELS", models.toString()))) {
                Result ended = cli.run("run", mission.toString(), "--json");
                JsonNode run = Json.read(ended.out()).path("run");
                assertThat(run.path("state").asString()).as(ended.err()).isEqualTo("completed");
                String id = run.path("id").stringValue();
                JsonNode ledger = Json.read(cli.run("ledger", id, "--json").out()).path("items");
                List<String> charges = ledger.valueStream()
                        .filter(row -> row.path("transaction_type").asString().equals("charge"))
                        .map(row -> amount(row) + " | `" + row.path("purpose").asString() + "`").toList();
                assertThat(charges).hasSize(3).allSatisfy(charge -> assertThat(guide).contains("| " + charge));
                for (String type : List.of("reserve", "refund")) {
                    assertThat(guide).contains(ledger.valueStream()
                            .filter(row -> row.path("transaction_type").asString().equals(type))
                            .map(BudgetGuideTest::amount).findFirst().orElseThrow());
                }
                assertThat(run.path("credits_charged").decimalValue()).isEqualByComparingTo("0.01074");
                assertThat(guide).contains("is charged 0.01074");
                List<JsonNode> thresholds = cli.lines("events", id, "--json").stream().map(Json::read)
                        .filter(each -> each.path("event_type").asString("").equals("run_budget_threshold")).toList();
                assertThat(thresholds).extracting(each -> each.at("/payload/percent").intValue()).containsExactly(50);
                JsonNode first = model.journal().getFirst().path("body");
                assertThat(first.path("max_tokens").asInt(first.path("max_completion_tokens").asInt()))
                        .as("less than 0.02 pays").isBetween(256, 1333);
            }
        }
    }

    private static String amount(JsonNode row) {
        return new BigDecimal(row.path("amount").asString()).stripTrailingZeros().toPlainString();
    }
}
