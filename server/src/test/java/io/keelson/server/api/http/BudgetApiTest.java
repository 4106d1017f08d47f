package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What a run may cost, over HTTP: turned away for want of credits, held up at its limit, let go on. */
@Breadth.Spread
class BudgetApiTest {
    private static ApiServer api;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    /** Three steps of 0.4 each. */
    private static String mission(String more) {
        return """
                {"name": "dear", %s, "plan": {"tasks": [{"id": "a", "title": "A", "steps": [
                  {"name": "one", "tool": "noop", "input": {"cost": 0.4}},
                  {"name": "two", "tool": "noop", "input": {"cost": 0.4}},
                  {"name": "three", "tool": "noop", "input": {"cost": 0.4}}]}]}}""".formatted(more);
    }

    @Test
    void aRunThatItsWorkspaceCannotPayIsNotMade() {
        String dear = """
                {"name": "dearer", "start": true, "plan": {"total_estimated_cost": 5000, "tasks": [
                  {"id": "a", "title": "A", "steps": [{"name": "one", "tool": "noop"}]}]}}""";
        JsonNode refusal = refused(402, api.post("/api/v1/runs", dear));
        assertThat(refusal.get("code").stringValue()).isEqualTo("INSUFFICIENT_CREDITS");

        String notStarted = dear.replace("\"start\": true", "\"start\": false");
        assertThat(refused(402, api.post("/api/v1/runs", notStarted)).get("code").stringValue())
                .isEqualTo("INSUFFICIENT_CREDITS");
        assertThat(api.get("/api/v1/runs?limit=200").text()).doesNotContain("dearer");
    }

    @Test
    void aRunThatWaitsForItsStartReservesNothing() {
        String mission = """
                {"name": "half", "start": %s, "plan": {"total_estimated_cost": 600, "tasks": [
                  {"id": "a", "title": "A", "steps": [{"name": "one", "kind": "approval"}]}]}}""";
        String waiting = api.create(mission.formatted(false));
        String started = api.create(mission.formatted(true));
        assertThat(
                refused(402, api.post("/api/v1/runs/" + waiting + "/start", "{}")).get("current_state").stringValue())
                .isEqualTo("created");
        assertThat(api.run(waiting).get("state").stringValue()).isEqualTo("created");
        api.post("/api/v1/runs/" + started + "/cancel", "{}");
        assertThat(api.post("/api/v1/runs/" + waiting + "/start", "{}").status()).isEqualTo(200);
        api.post("/api/v1/runs/" + waiting + "/cancel", "{}");
    }

    @Test
    void atItsLimitARunIsHeldUpUntilThatIsRaised() {
        String run = api.create(mission("\"start\": true, \"config\": {\"budget\": {\"hard_limit_usd\": 0.8}}"));
        JsonNode held = api.awaitState(run, "budget_exceeded");
        assertThat(held.get("hard_limit_usd").decimalValue()).isEqualByComparingTo("0.8");
        assertThat(api.get("/api/v1/runs/" + run + "/explain").text()).contains("BUDGET_EXCEEDED")
                .contains("0.8 credits of the 0.8 that its limit allows");
        assertThat(api.get("/api/v1/runs/" + run + "/states").json().at("/contracts/handoff/run").stringValue())
                .isEqualTo("PAUSED");

        assertThat(refused(409, api.post("/api/v1/runs/" + run + "/resume", "{}")).get("code").stringValue())
                .isEqualTo("BUDGET_EXCEEDED");
        assertThat(refused(409, budget(run, "{\"hard_limit_usd\": 0.7}")).get("code").stringValue())
                .isEqualTo("BUDGET_TOO_LOW");
        for (String above : List.of("{\"hard_limit_usd\": 1.5, \"soft_limit_usd\": 1.6}", "{\"soft_limit_usd\": 9}")) {
            assertThat(budget(run, above).json().get("pointer").asString()).isEqualTo("/soft_limit_usd");
        }
        assertThat(budget(run, "{\"hard_limit_usd\": 1.5, \"soft_limit_usd\": 1}").status()).isEqualTo(200);
        api.awaitState(run, "completed");
        JsonNode raised = api.run(run);
        assertThat(raised.get("hard_limit_usd").decimalValue()).isEqualByComparingTo("1.5");
        assertThat(raised.get("soft_limit_usd").decimalValue()).isEqualByComparingTo("1");
        assertThat(raised.get("credits_uncollected").isNumber()).isTrue();
        assertThat(api.get("/api/v1/runs/" + run + "/events?limit=200").text()).contains("run_budget_warning")
                .contains("run_budget_changed");
        refused(409, budget(run, "{\"hard_limit_usd\": 2}"));
    }

    /**
     * Twenty agents share 0.10. A turn holds 0.02, so five turns may be under way. Each report is at its bound, so nothing
     * of the limit is left where it would have been overrun.
     */
    @Test
    void chargesOfParallelAgentsNeverExceedTheLimit() {
        String prices = """
                {"items": [{"kind": "model", "name": "held", "usd_per_million_tokens": {"input": 1, "output": 10}}]}""";
        assertThat(api.send("PUT", "/api/v1/prices", prices.getBytes(StandardCharsets.UTF_8), "Content-Type",
                "application/json").status()).isEqualTo(200);
        String tasks = IntStream.range(0, 20).mapToObj(i -> """
                {"id": "t%d", "suggested_model": "held",
                 "worst_case": {"max_input_tokens": 4000, "max_output_tokens": 1600}}""".formatted(i))
                .collect(Collectors.joining(","));
        String run = api.create("""
                {"name": "agents", "start": true, "plan": {"tasks": [%s]},
                 "config": {"max_agents": 20, "budget": {"hard_limit_usd": 0.10}}}""".formatted(tasks));

        List<JsonNode> held = turns(60_000);
        assertThat(held).hasSize(5).allSatisfy(turn -> assertThat(turn.get("max_output_tokens").intValue())
                .isEqualTo(1600));
        assertThat(turns(60_000)).as("nothing fits beside them").isEmpty();
        assertThat(api.get("/api/v1/runs/" + run + "/explain").text()).contains("CREDITS_HELD")
                .contains("beside the 0.1 credits held");
        api.sql("update work_queue set lease_expires_at = now() - interval '1 second' where holder = 'w' and run_id = '"
                + run + "'");
        List<JsonNode> again = new ArrayList<>();
        while (again.size() < 5) {
            again.addAll(turns(60_000, 20_000));
        }
        assertThat(turns(60_000)).as("the expired leases have given back 0.10, and no more").isEmpty();

        again.forEach(turn -> {
            assertThat(complete(turn, 4000, 1600)).isEqualTo("ok");
            charged(run, "0.10");
        });
        JsonNode stopped = api.awaitState(run, "budget_exceeded");
        assertThat(stopped.get("credits_charged").decimalValue()).isEqualByComparingTo("0.1");
        assertThat(stopped.get("credits_uncollected").decimalValue()).isEqualByComparingTo("0");

        assertThat(budget(run, "{\"hard_limit_usd\": 0.45}").status()).isEqualTo(200);
        for (List<JsonNode> more = turns(60_000); !more.isEmpty(); more = turns(60_000)) {
            more.forEach(turn -> {
                assertThat(complete(turn, 4000, turn.get("max_output_tokens").longValue())).isEqualTo("ok");
                charged(run, "0.45");
            });
        }
        JsonNode ended = api.awaitState(run, "completed");
        assertThat(ended.get("credits_charged").decimalValue()).isEqualByComparingTo("0.4");
        assertThat(ended.get("credits_uncollected").decimalValue()).isEqualByComparingTo("0");
    }

    @Test
    void reportAboveItsHoldIsUncollectedAndCounted() {
        api.send("PUT", "/api/v1/prices", """
                {"items": [{"kind": "model", "name": "held", "usd_per_million_tokens": {"input": 1, "output": 10}}]}"""
                .getBytes(StandardCharsets.UTF_8), "Content-Type", "application/json");
        String run = api.create("""
                {"name": "above", "start": true, "config": {"budget": {"hard_limit_usd": 0.015}}, "plan": {"tasks": [
                 {"id": "a", "suggested_model": "held",
                  "worst_case": {"max_input_tokens": 4000, "max_output_tokens": 1600}}]}}""");
        JsonNode turn = turns(60_000, 20_000).getFirst();
        assertThat(turn.get("max_output_tokens").intValue()).as("0.011 is left beside the input").isEqualTo(1100);
        assertThat(complete(turn, 4000, 1600)).isEqualTo("ok");
        JsonNode ended = api.awaitState(run, "budget_exceeded");
        assertThat(ended.get("credits_charged").decimalValue()).isEqualByComparingTo("0.015");
        assertThat(ended.get("credits_uncollected").decimalValue()).isEqualByComparingTo("0.005");
        JsonNode event = api.get("/api/v1/runs/" + run + "/events").json().get("items").valueStream()
                .filter(each -> each.get("event_type").stringValue().equals("step_hold_exceeded")).findFirst()
                .orElseThrow();
        assertThat(new BigDecimal(event.at("/payload/cost").stringValue())).isEqualByComparingTo("0.02");
        assertThat(new BigDecimal(event.at("/payload/held").stringValue())).isEqualByComparingTo("0.015");
        assertThat(api.get("/metrics").text()).containsPattern("keelson_holds_exceeded_total 1");
    }

    private static void charged(String run, String limit) {
        assertThat(api.run(run).get("credits_charged").decimalValue()).isLessThanOrEqualTo(new BigDecimal(limit));
    }

    private static List<JsonNode> turns(int leaseMillis) {
        return turns(leaseMillis, 0);
    }

    private static List<JsonNode> turns(int leaseMillis, int waitMillis) {
        return api.post("/api/v1/dispatch/claim", """
                {"worker_id": "w", "tools": ["agent.turn"], "max": 20, "wait_ms": %d, "lease_ms": %d}"""
                .formatted(waitMillis, leaseMillis)).json().get("items").valueStream().toList();
    }

    private static String complete(JsonNode turn, long input, long output) {
        return api.post("/api/v1/dispatch/complete", """
                {"worker_id": "w", "items": [{"step_id": "%s", "lease_epoch": %d, "output": {"output": "done"},
                 "model": "held", "usage": {"input": %d, "output": %d}}]}""".formatted(
                turn.get("step_id").stringValue(), turn.get("lease_epoch").intValue(), input, output)).json()
                .at("/items/0/status").stringValue();
    }

    @Test
    void taskAtItsBudgetBlocksTheRunUntilThatIsRaised() {
        String run = api.create("""
                {"name": "dear", "start": true, "plan": {"tasks": [
                  {"id": "research", "title": "R", "budget_usd": 3, "steps": [
                    {"name": "one", "tool": "noop", "input": {"cost": 5}},
                    {"name": "two", "tool": "noop", "input": {"cost": 0.5}}]}]}}""");
        JsonNode held = api.awaitState(run, "budget_exceeded");
        assertThat(held.get("task_budgets"))
                .hasToString("[{\"task\":\"research\",\"used\":5,\"exceeded\":true,\"budget_usd\":3}]");
        assertThat(held.at("/plan/tasks/0/budget_usd").decimalValue()).isEqualByComparingTo("3");
        assertThat(api.get("/api/v1/runs/" + run + "/explain").text()).contains("BUDGET_EXCEEDED")
                .contains("task research used 5 of 3 credits; raise its budget to 5.000001 or more, or cancel the run")
                .contains("\"needed_usd\":5.000001");
        assertThat(api.get("/api/v1/runs/" + run + "/events?limit=200").text())
                .contains("\"reason\":\"task research used 5 of 3 credits\"");
        JsonNode item = api.get("/api/v1/inbox?run_id=" + run).json().at("/items/0");
        assertThat(item.get("question").stringValue())
                .isEqualTo("'dear': task research used 5 of 3 credits. Raise the budget?");

        assertThat(refused(409, api.post("/api/v1/runs/" + run + "/resume", "{}")).get("code").stringValue())
                .isEqualTo("BUDGET_EXCEEDED");
        assertThat(refused(409, budget(run, "{\"tasks\": {\"research\": 4}}")).get("code").stringValue())
                .isEqualTo("BUDGET_TOO_LOW");
        assertThat(refused(409, budget(run, "{\"tasks\": {\"other\": 4}}")).get("code").stringValue())
                .isEqualTo("TASK_WITHOUT_BUDGET");
        refused(422, budget(run, "{\"tasks\": {\"research\": 0}}"));
        refused(422, budget(run, "{\"tasks\": {\"research\": 5.0000001}}"));
        assertThat(api.post(item.at("/links/accept").stringValue(), "{\"tasks\": {\"research\": 6}}").status())
                .isEqualTo(200);
        JsonNode ended = api.awaitState(run, "completed");
        assertThat(ended.get("credits_uncollected").decimalValue()).isEqualByComparingTo("0");
        assertThat(ended.at("/task_budgets/0/used").decimalValue()).isEqualByComparingTo("5.5");

        JsonNode fork = api.post("/api/v1/runs/" + run + "/fork", "{\"task\": \"research\"}").json();
        assertThat(fork.at("/plan/tasks/0/budget_usd").decimalValue()).as("as raised").isEqualByComparingTo("6");
        JsonNode again = api.awaitState(fork.get("id").stringValue(), "completed");
        assertThat(again.at("/task_budgets/0/used").decimalValue()).isEqualByComparingTo("5.5");
    }

    @Test
    void raisingTheBudgetOfAStoppedRunNeedsTheScopeOfItsInboxItem() {
        String key = api.bearer(Bootstrap.DEFAULT_WORKSPACE, Set.of(Scope.RUNS_READ, Scope.RUNS_WRITE));
        String run = api.create(mission("\"start\": false, \"config\": {\"budget\": {\"hard_limit_usd\": 0.4}}"));
        String url = "/api/v1/runs/" + run + "/budget";
        assertThat(api.post(url, "{\"hard_limit_usd\": 0.8}", "Authorization", key).status()).isEqualTo(200);
        assertThat(api.post("/api/v1/runs/" + run + "/start", "{}").status()).isEqualTo(200);
        api.awaitState(run, "budget_exceeded");

        JsonNode refusal = refused(403, api.post(url, "{\"hard_limit_usd\": 2}", "Authorization", key));
        assertThat(refusal.get("scope").stringValue()).isEqualTo("approve");
        assertThat(api.run(run).get("hard_limit_usd").decimalValue()).isEqualByComparingTo("0.8");
        assertThat(budget(run, "{\"hard_limit_usd\": 2}").status()).isEqualTo(200);
        api.awaitState(run, "completed");
    }

    @Test
    void childRunCountsTowardsItsStartingTasksBudget() {
        String run = api.create("""
                {"name": "parent", "start": true, "plan": {"tasks": [
                  {"id": "part", "title": "P", "budget_usd": 1, "steps": [
                    {"name": "child", "tool": "run.start", "input": {"config": {"autonomy": {"level": "full_auto"}}, "plan": {
                      "tasks": [{"id": "a", "steps": [{"tool": "noop", "input": {"cost": 0.75}}]}]}}},
                    {"name": "two", "tool": "noop", "input": {"cost": 0.5}},
                    {"name": "three", "tool": "noop"}]}]}}""");
        JsonNode held = api.awaitState(run, "budget_exceeded");
        assertThat(held.at("/task_budgets/0/used").decimalValue()).isEqualByComparingTo("1.25");
        assertThat(budget(run, "{\"tasks\": {\"part\": 2}}").status()).isEqualTo(200);
        api.awaitState(run, "completed");
    }

    @Test
    void oneOfTheLimitsMustBeGiven() {
        String run = api.create(mission("\"start\": false"));
        assertThat(refused(422, budget(run, "{}")).get("code").stringValue()).isEqualTo("REQUIRED");
        refused(422, budget(run, "{\"hard_limit_usd\": 0.1234567}"));
        refused(404, budget("00000000-0000-7000-8000-000000000009", "{\"hard_limit_usd\": 1}"));
    }

    @Test
    void aToolHasAPriceWhereItsCallsDoNotSay() {
        byte[] price = "{\"items\": [{\"kind\": \"tool\", \"name\": \"echo\", \"usd_per_call\": 0.25}]}"
                .getBytes(StandardCharsets.UTF_8);
        assertThat(api.send("PUT", "/api/v1/prices", price, "Content-Type", "application/json").status())
                .isEqualTo(200);
        String run = api.create("""
                {"name": "priced", "start": true, "plan": {"tasks": [{"id": "a", "title": "A", "steps": [
                  {"name": "one", "tool": "echo", "input": {}}]}]}}""");
        api.awaitState(run, "completed");
        assertThat(api.run(run).get("total_cost").decimalValue()).isEqualByComparingTo("0.25");
    }

    /** The server that has set a price charges by it at once. */
    @Test
    void runIsChargedByThePriceSetBeforeItsStart() {
        for (int i = 1; i <= 10; i++) {
            String price = "0.0" + i % 10 + "1";
            assertThat(api.put("/api/v1/prices",
                    "{\"items\": [{\"kind\": \"tool\", \"name\": \"text.template\", \"usd_per_call\": " + price + "}]}")
                    .status()).isEqualTo(200);
            String run = api.create("""
                    {"name": "priced", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                      {"tool": "text.template", "input": {"template": "a"}}]}]}}""");
            assertThat(api.awaitState(run, "completed").get("total_cost").decimalValue()).isEqualByComparingTo(price);
        }
    }

    private static ApiServer.Answer budget(String run, String body) {
        return api.post("/api/v1/runs/" + run + "/budget", body);
    }

    private static JsonNode refused(int status, ApiServer.Answer answer) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(status);
        return answer.json();
    }
}
