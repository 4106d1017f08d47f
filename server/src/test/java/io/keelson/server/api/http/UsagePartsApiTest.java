package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Usage divided by what runs are made of and where they come from. */
class UsagePartsApiTest {

    @TempDir
    private static Path folder;

    private static ApiServer api;
    private static String recipe;
    private static String first;
    private static String second;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder);
        recipe = api.post("/api/v1/recipes", """
                {"name": "dear", "plan": {"tasks": [
                  {"id": "fetch", "steps": [{"tool": "noop", "input": {"cost": 0.123457}}]},
                  {"id": "write", "depends_on": ["fetch"], "steps": [{"tool": "noop", "input": {"cost": 0.5}},
                    {"tool": "noop", "input": {"cost": 0.000001}}]}]}}""").json().get("id").stringValue();
        first = run();
        second = api.create("""
                {"name": "alone", "start": true, "plan": {"tasks": [
                  {"id": "only", "steps": [{"tool": "noop", "input": {"cost": 2}}]}]}}""");
        api.awaitState(second, "completed");
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    private static String run() {
        String id = api.post("/api/v1/recipes/" + recipe + "/run", "{}").json().get("id").stringValue();
        api.awaitState(id, "completed");
        return id;
    }

    private static List<String> lines(JsonNode usage, String... parts) {
        return usage.get("items").valueStream().map(each -> {
            StringBuilder line = new StringBuilder();
            for (String part : parts) {
                line.append(each.get(part).asString("null")).append(' ');
            }
            return line.append(each.get("credits").decimalValue().setScale(6)).toString();
        }).toList();
    }

    @Test
    void chargesOfARunAreDividedByItsTasks() {
        JsonNode usage = api.get("/api/v1/runs/" + first + "/usage").json();

        assertThat(usage.get("by").stringValue()).isEqualTo("task");
        assertThat(lines(usage, "task")).containsExactly("write 0.500001", "fetch 0.123457");
        assertThat(usage.at("/total/credits").decimalValue())
                .isEqualByComparingTo(api.run(first).get("total_cost").decimalValue());
        assertThat(lines(api.get("/api/v1/runs/" + first + "/usage?by=tool&by=task").json(), "tool", "task"))
                .containsExactly("noop write 0.500001", "noop fetch 0.123457");
    }

    @Test
    void runsAndTheirRecipesAreParts() {
        assertThat(lines(api.get("/api/v1/usage?by=run").json(), "run", "run_name"))
                .containsExactly(second + " alone 2.000000", first + " dear 0.623458");
        assertThat(lines(api.get("/api/v1/usage?by=recipe").json(), "recipe"))
                .containsExactly("null 2.000000", recipe + " 0.623458");
        assertThat(lines(api.get("/api/v1/usage?by=schedule").json(), "schedule")).containsExactly("null 2.623458");
        assertThat(lines(api.get("/api/v1/usage?by=hour&by=recipe").json(), "recipe")).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"day", "hour", "agent", "model", "tool", "purpose", "run", "task", "recipe", "schedule"})
    void partsAddUpToTheLedger(String part) {
        JsonNode usage = api.get("/api/v1/usage?by=" + part).json();
        BigDecimal parts = usage.get("items").valueStream().map(each -> each.get("credits").decimalValue())
                .reduce(BigDecimal.ZERO, BigDecimal::add);
        BigDecimal ledger = api.get("/api/v1/ledger?type=charge&limit=500").json().get("items").valueStream()
                .map(each -> each.get("amount").decimalValue()).reduce(BigDecimal.ZERO, BigDecimal::add);

        assertThat(parts).isEqualByComparingTo(ledger);
        assertThat(usage.at("/total/credits").decimalValue()).isEqualByComparingTo(ledger);
    }
}
