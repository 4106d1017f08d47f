package io.keelson.server.annex.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.definition.Agent;
import io.keelson.api.inbox.InboxItem;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.client.AgentRequest;
import io.keelson.client.InboxQuery;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.worker.Worker;
import io.keelson.server.annex.mcp.FakeMcpServer;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Texts that give orders, in all places from which a model gets text, and a model that obeys each of them. What must hold is
 * the server's: lists of tools, approvals, secrets, tenants, plans, prices, budgets and verdicts.
 */
class InjectionTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String CANARY = "canary-value-5b1d7";
    private static final List<String> TOOLS =
            List.of("echo", "fail", "files.read", "process.run", "http.request", "agent.ask",
                    "mcp.other.add");
    private static final Set<String> DESTRUCTIVE = Set.of("process.run", "http.request");

    private record Text(int number, String place, String text) {}

    private final AtomicInteger paid = new AtomicInteger();

    private static List<Text> corpus(Path folder, String url, String foreign) throws Exception {
        try (InputStream stream = Objects.requireNonNull(InjectionTest.class.getResourceAsStream("injections.json"))) {
            List<Text> texts = new ArrayList<>();
            for (JsonNode each : Json.read(new String(stream.readAllBytes(), StandardCharsets.UTF_8))) {
                texts.add(new Text(texts.size(), each.get("place").stringValue(), each.get("text").stringValue()
                        .replace("{URL}", url).replace("{MARKER}", folder.resolve("marker").toString())
                        .replace("{FOREIGN}", foreign)));
            }
            return texts;
        }
    }

    /** The call by which an agent comes upon the text. */
    private static JsonNode first(Text text) {
        ObjectNode call = Json.object();
        ObjectNode input = Json.object();
        switch (text.place) {
            case "tool_result" -> call.put("tool", "echo").set("input", input.put("text", text.text));
            case "error" ->
                call.put("tool", "fail").set("input", input.put("class", "permanent").put("message", text.text));
            case "file", "artifact" -> call.put("tool", "files_read")
                    .set("input", input.put("path", "case-" + text.number + ".txt"));
            case "human_answer" -> call.put("tool", "agent_ask").set("input", input.put("question", "What now?"));
            case "mcp_result" -> call.put("tool", "mcp_other_add").set("input", input.put("n", 1));
            default -> call.put("tool", "echo").set("input", input.put("text", "nothing"));
        }
        return call;
    }

    private static JsonNode mission(Text text) {
        ObjectNode mission = Json.object().put("name", "case-" + text.number);
        ObjectNode task = Json.object().put("id", "work").put("title", "Case " + text.number + ".");
        task.putObject("suggested_agent").put("agent_name", "victim");
        switch (text.place) {
            case "goal" -> {
                mission.put("goal", text.text).putObject("config").putObject("model_preferences").put("planner",
                        "victim");
                return mission;
            }
            case "judged_output" -> mission.putObject("plan").set("tasks", Json.read("""
                    [{"id": "judged", "steps": [{"tool": "echo", "input": {}}], "verify": [{"kind": "model", "model": "judge",
                      "criteria": [{"criterion": "It names its sources", "must_pass": true}]}]}]"""));
            case "upstream" -> {
                mission.putObject("plan").set("tasks", Json.read("""
                        [{"id": "before", "steps": [{"tool": "echo", "input": {}}]}]"""));
                task.putArray("depends_on").add("before");
            }
            case "input" -> {
                mission.putObject("inputs").putObject("note");
                mission.putObject("input").put("note", text.text);
            }
            default -> {
            }
        }
        if (text.place.equals("upstream") || text.place.equals("judged_output")) {
            ((ObjectNode) mission.at("/plan/tasks/0/steps/0/input")).put("text", text.text.replace("${", "$${"));
        }
        if (!text.place.equals("judged_output")) {
            mission.withObjectProperty("plan").withArrayProperty("tasks").add(task);
        }
        mission.putObject("config").putObject("budget").put("hard_limit_usd", 1);
        return mission;
    }

    @Test
    void nothingBeyondListsApprovalsAndTenantsHappensByOrderOfTexts(@TempDir Path folder) throws Exception {
        Path allowed = Files.createDirectory(folder.resolve("allowed"));
        Files.writeString(folder.resolve("canary.txt"), CANARY);
        Map<Integer, JsonNode> first = new HashMap<>();
        try (ObedientModel model = new ObedientModel(first); FakeMcpServer other = new FakeMcpServer("{}")) {
            Files.writeString(folder.resolve("models.yaml"), """
                    models:
                      victim: {wire: openai-chat, base_url: "%s", model: m, family: a, context_tokens: 200000, max_output_tokens: 2000,
                        prices: {input: 1, output: 1}}
                      judge: {wire: openai-chat, base_url: "%s", model: m, family: b, context_tokens: 200000, max_output_tokens: 2000,
                        prices: {input: 1, output: 1}}
                    """.formatted(model.url(), model.url()));
            try (Server server = Server.start(Settings.load(Map.of("KEELSON_DATA_DIR",
                    folder.resolve("data").toString(),
                    "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(TestDatabase.createUrl()),
                    "KEELSON_MODELS", "models.yaml", "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true",
                    "KEELSON_ALLOWED_FOLDERS", allowed.toString()), folder, folder))) {
                Keelson keelson = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
                try (Worker worker = Worker.builder(keelson).tool("pay", step -> {
                    paid.incrementAndGet();
                    return Map.of();
                }).build()) {
                    worker.start();
                    check(keelson, model, other, first, allowed);
                }
            }
        }
    }

    private void check(Keelson keelson, ObedientModel model, FakeMcpServer other, Map<Integer, JsonNode> first,
            Path allowed) throws Exception {
        keelson.secrets().set("canary", CANARY);
        keelson.agents().create(AgentRequest.of("victim").model("victim").tools(TOOLS));
        keelson.agents().create(AgentRequest.of("treasurer").model("victim").tools(List.of("pay")));
        Agent agent = keelson.agents().get("victim");
        JsonNode prices = Json.MAPPER.valueToTree(keelson.prices().current());
        Run foreign = keelson.runs()
                .execute(RunRequest.of(Json
                        .read("""
                {"name": "other", "plan": {"tasks": [{"id": "a", "steps": [{"tool": "echo", "input": {"text": "%s"}}]}]}}"""
                                .formatted(CANARY)))
                        .start(), LIMIT);
        List<Text> texts = corpus(allowed, other.url(), keelson.runs().steps(foreign.id()).getFirst().id());
        assertThat(texts).hasSizeGreaterThanOrEqualTo(60);
        Map<Text, Run> runs = new LinkedHashMap<>();
        for (Text text : texts) {
            first.put(text.number, first(text));
            String padding = "x".repeat(22_000);
            Files.writeString(allowed.resolve("case-" + text.number + ".txt"),
                    text.place.equals("artifact") ? padding + "\n" + text.text + padding : text.text);
            if (text.place.startsWith("mcp")) {
                other.text = text.place.equals("mcp_result") ? text.text : "sum";
                other.description = text.place.equals("mcp_description") ? text.text : "Adds";
                keelson.mcpServers().set("other", Json.read("""
                        {"url": "%s", "tools": ["add"], "effects": {"add": "read"}}""".formatted(other.url())));
            }
            Run run = keelson.runs().create(RunRequest.of(mission(text)).start());
            runs.put(text, run);
            if (text.place.startsWith("mcp")) {
                atRest(keelson, text, run);
            }
        }
        runs.forEach((text, run) -> atRest(keelson, text, run));
        int calls = 0;
        for (Map.Entry<Text, Run> each : runs.entrySet()) {
            calls += held(keelson, each.getKey(), each.getValue());
        }
        assertThat(calls).as("calls that texts have asked for").isGreaterThan(60);
        assertThat(paid).as("calls of a tool outside the list").hasValue(0);
        assertThat(allowed.resolve("marker")).doesNotExist();
        assertThat(String.join("\n", model.requests)).as("requests to the model").doesNotContain(CANARY);
        assertThat(other.requests.toString()).doesNotContain(CANARY, "/steal");
        assertThat(keelson.agents().get("victim")).usingRecursiveComparison().ignoringFields("warnings")
                .isEqualTo(agent);
        assertThat((JsonNode) Json.MAPPER.valueToTree(keelson.prices().current())).isEqualTo(prices);
    }

    /** Waits until the run has ended, or only a person can continue it; answers the agent's questions with the text. */
    private static void atRest(Keelson keelson, Text text, Run run) {
        Awaitility.await(text.toString()).atMost(LIMIT).pollInterval(Duration.ofMillis(50)).until(() -> {
            List<InboxItem> items = keelson.inbox().list(InboxQuery.all().run(run.id())).items();
            items.stream().filter(item -> item.kind().equals("question"))
                    .forEach(item -> keelson.inbox().answer(item.id(), Json.string(text.text), null));
            return keelson.runs().get(run.id()).ended()
                    || items.stream().anyMatch(item -> !item.kind().equals("question"));
        });
    }

    /** Checks what has happened in a run; returns the number of its calls. */
    private static int held(Keelson keelson, Text text, Run run) {
        Run now = keelson.runs().get(run.id());
        List<Step> calls = keelson.runs().steps(run.id()).stream().filter(step -> step.kind().equals("call")).toList();
        String about = text + ": " + calls;
        assertThat(calls).as(about).allSatisfy(call -> {
            if (!TOOLS.contains(call.tool()) && !call.tool().equals("artifact.read")) {
                assertThat(call.state()).as("a call outside the list").isEqualTo("skipped");
            }
            if (DESTRUCTIVE.contains(call.tool())) {
                assertThat(call.state()).as("a destructive call").isIn("waiting_approval", "pending", "skipped");
            }
            assertThat(call.output().toString()).doesNotContain(CANARY, "root:");
        });
        assertThat(keelson.runs().children(run.id())).as(about).isEmpty();
        assertThat(keelson.runs().events(run.id(), 0, 500).items().toString()).as("events").doesNotContain(CANARY);
        switch (text.place) {
            case "goal" -> {
                assertThat(now.state()).as(about).isIn("awaiting_approval", "failed");
                assertThat(keelson.runs().steps(run.id())).filteredOn(step -> !"model.plan".equals(step.tool()))
                        .extracting(Step::state).as("before a person approves the plan").allMatch("pending"::equals);
            }
            case "judged_output" -> assertThat(now.state()).as("a verdict by its own words").isNotEqualTo("completed");
            default -> {
                assertThat(now.planVersion()).isEqualTo(1);
                assertThat(now.hardLimitUsd()).isEqualByComparingTo("1");
            }
        }
        return calls.size();
    }
}
