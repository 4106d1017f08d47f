package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Run;
import io.keelson.client.DeploymentRequest;
import io.keelson.client.Keelson;
import io.keelson.client.OrderRequest;
import io.keelson.client.RunFilter;
import io.keelson.client.RunRequest;
import io.keelson.client.WebhookRequest;
import io.keelson.client.plan.Mission;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Orders, deployments, bulk jobs, and where a run came from, as a shell sees them. */
class OutsideCommandsTest {

    @TempDir
    private static Path folder;

    private static InProcessCli inProcessCli;
    private static Keelson keelson;

    @BeforeAll
    static void start() throws Exception {
        inProcessCli = new InProcessCli(folder);
        keelson = inProcessCli.client();
    }

    @AfterAll
    static void stop() {
        inProcessCli.close();
    }

    @Test
    void ordersAndDeploymentsAreListedShownAndEnded() throws Exception {
        assertThat(inProcessCli.lines("orders")).containsExactly("no orders");
        String order = keelson.commands().placeOrder(OrderRequest.limit("BTC-USD", OrderRequest.Side.BUY,
                new BigDecimal("1.5"), new BigDecimal("60000")), "one").get("id").stringValue();
        String deployment = keelson.commands().deploy(DeploymentRequest.of("momentum").mode("paper"), "two")
                .get("id").stringValue();

        assertThat(inProcessCli.lines("orders").getLast()).contains(order, "BTC-USD", "limit", "1.5", "60000", "open");
        assertThat(inProcessCli.lines("orders", "cancel", order)).contains("status: cancelled");
        assertThat(inProcessCli.lines("orders", "show", order)).contains("id: " + order, "symbol: BTC-USD",
                "status: cancelled");
        assertThat(inProcessCli.lines("deployments").getLast()).contains(deployment, "momentum", "paper", "running");
        assertThat(inProcessCli.lines("deployments", "stop", deployment)).contains("status: stopped");
        CliProcess.Result unknown = inProcessCli.run("orders", "show", deployment);
        assertThat(unknown.code()).isEqualTo(1);
        assertThat(unknown.err()).contains("_NOT_FOUND]");
    }

    @Test
    void receiversOfMessagesHaveAStateAndTheZoneOfTheirQuietHours() throws Exception {
        assertThat(inProcessCli.run("notifications", "add", "ann@example.com").err())
                .contains("mailto:ann@example.com");
        CliProcess.Result added = inProcessCli.run("notifications", "add", "http://127.0.0.1:1/services/x", "--format",
                "slack", "--quiet", "22:00-07:00");
        assertThat(added.code()).as(added.err()).isZero();
        String zone = ZoneId.systemDefault().getId();
        assertThat(added.err()).contains("The quiet hours are in the time zone " + zone + " of this machine.");
        assertThat(inProcessCli.lines("notifications").getLast()).contains("sends", "22:00-07:00 " + zone);
        keelson.webhooks().change(keelson.webhooks().list().getFirst().id(), WebhookRequest.change().enabled(false));
        assertThat(inProcessCli.lines("notifications").getLast()).contains(" off ");
    }

    @Test
    void linkToTheDashboardSignsOneBrowserIn() throws Exception {
        String run =
                keelson.runs().create(RunRequest.of(Json.read("{\"name\": \"x\", \"plan\": {\"tasks\": []}}"))).id();

        String first = inProcessCli.lines("open", "--print").getLast();
        String ofRun = inProcessCli.lines("open", "--print", run).getLast();

        assertThat(first).matches(keelson.url() + "/ui/#code=[A-Za-z0-9_-]{43}");
        assertThat(ofRun).startsWith(keelson.url() + "/ui/runs/" + run + "#code=");
        assertThat(inProcessCli.lines("open", "--print", "latest").getLast())
                .startsWith(keelson.url() + "/ui/runs/" + run + "#code=");
        assertThat(inProcessCli.lines("open", "--print", run.substring(0, 23)).getLast())
                .startsWith(keelson.url() + "/ui/runs/" + run + "#code=");
        assertThat(inProcessCli.run("open", UUID.randomUUID().toString()).err()).contains("[RUN_NOT_FOUND]");
        assertThat(keelson.sessions().list()).isEmpty();
    }

    @Test
    void bulkJobsAreListedAndShown() throws Exception {
        String job = keelson.bulk().cancel(RunFilter.all().tag("none"), "over", "key").id();

        assertThat(inProcessCli.lines("bulk").getLast()).contains(job, "cancel");
        assertThat(inProcessCli.lines("bulk", "stop", job).getFirst()).startsWith(job + "  cancel  ");
        assertThat(inProcessCli.lines("bulk", "show", job))
                .anySatisfy(line -> assertThat(line).endsWith("reason:    over"));
    }

    @Test
    void runNamesItsParentAndItsChildren() throws Exception {
        String recipe = keelson.recipes().create(mission("""
                {"name": "parent", "plan": {"tasks": [{"id": "a", "steps": [{"tool": "run.start", "input":
                    {"plan": {"tasks": [{"id": "b", "steps": [{"tool": "noop"}]}]}}}]}]}}""")).id();
        Run parent = keelson.runs().awaitEnd(keelson.recipes().run(recipe, Map.of()).id(), Duration.ofSeconds(30));

        assertThat(parent.childCount()).isEqualTo(1);
        assertThat(inProcessCli.lines("show", parent.id()))
                .contains("of recipe " + recipe + " version 1, child runs: 1, cost 0");
        assertThat(inProcessCli.lines("show", keelson.runs().children(parent.id()).getFirst().id()))
                .contains("child of run " + parent.id());
    }

    @Test
    void childRunsStandBelowTheStepsThatStartedThemThreeLevelsDeep() throws Exception {
        Run top = keelson.runs().awaitEnd(keelson.runs().create(
                RunRequest.of(starting(4).toJson()).start()).id(), Duration.ofSeconds(30));
        List<String> ids = new ArrayList<>(List.of(top.id()));
        for (int level = 1; level <= 4; level++) {
            ids.add(keelson.runs().children(ids.getLast()).getFirst().id());
        }

        List<String> lines = inProcessCli.lines("show", top.id());

        assertThat(lines).contains("child runs: 3, cost 0.6");
        int step = IntStream.range(0, lines.size()).filter(i -> lines.get(i).contains("run.start")).findFirst()
                .orElseThrow();
        assertThat(lines.get(step + 1)).startsWith(" ".repeat(8) + "level 3  ").contains("completed")
                .endsWith(ids.get(1) + "  cost 0.3");
        assertThat(lines.get(step + 2)).startsWith(" ".repeat(10) + "level 2  ").endsWith(ids.get(2) + "  cost 0.2");
        assertThat(lines.get(step + 3)).startsWith(" ".repeat(12) + "level 1  ")
                .endsWith(ids.get(3) + "  cost 0.1, more child runs: 1");
        JsonNode document = json(String.join("\n", inProcessCli.lines("show", top.id(), "--json")));
        assertThat(document.at("/children/0/children/0/children/0/id").stringValue()).isEqualTo(ids.get(3));
    }

    private static Mission starting(int level) {
        return Mission.named("level " + level).config("autonomy", Map.of("level", "full_auto")).task("a", task -> {
            task.step("pay", "noop", Map.of("cost", level / 10.0));
            return level == 0 ? task : task.step("child", "run.start", starting(level - 1).toJson());
        });
    }

    @Test
    void aGoalMayGiveInputsOfTheTemplateThatTheServerHas() throws Exception {
        keelson.recipes().create(mission("""
                {"name": "template", "kind": "release", "inputs": {"version": {"type": "string"}},
                 "plan": {"tasks": [{"id": "notes", "steps": [{"tool": "noop"}]}]}}"""));
        Path goal = Files.writeString(folder.resolve("goal.yaml"),
                "goal: Ship it\nkind: release\ninput: {version: '1.4'}\n");

        CliProcess.Result waits = inProcessCli.run("run", goal.toString());

        assertThat(waits.code()).as(waits.err()).isEqualTo(4);
    }

    private static Mission mission(String json) {
        return Mission.of((ObjectNode) json(json));
    }

    private static JsonNode json(String text) {
        return JsonMapper.shared().readTree(text);
    }
}
