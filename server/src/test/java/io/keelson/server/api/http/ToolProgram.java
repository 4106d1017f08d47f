package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;

/** A step with a program that calls tools over the gateway. */
final class ToolProgram {
    private static final AtomicInteger TOOLS = new AtomicInteger();

    private final ApiServer api;
    private final HttpClient http;
    private final String tool = "test.caller" + TOOLS.incrementAndGet();
    private final String grant;
    final String run;
    JsonNode item;

    /** @param ofTask members of the task in the plan */
    ToolProgram(ApiServer api, HttpClient http, String grant, String ofTask) {
        this.api = api;
        this.http = http;
        this.grant = grant;
        claim(0);
        run = api.create(ApiServer.REMOTE.replace("test.remote", tool).replace("\"id\": \"one\"",
                ofTask + "\"id\": \"one\""));
        item = claim(20_000).get(0);
    }

    JsonNode claim(int wait) {
        return api
                .post("/api/v1/dispatch/claim",
                        "{\"worker_id\": \"w\", \"tools\": [\"" + tool + "\"], \"wait_ms\": "
                                + wait + ", \"tool_specs\": [{\"name\": \"" + tool + "\", \"gateway\": " + grant
                                + "}]}")
                .json().get("items");
    }

    /** The program is killed, and executed again. */
    void again() {
        report("release", "");
        item = claim(20_000).get(0);
    }

    HttpRequest request(String body) {
        return HttpRequest.newBuilder(URI.create(api.url() + "/gateway/mcp")).timeout(Duration.ofSeconds(30))
                .header("Authorization", "Bearer " + item.at("/gateway/token").stringValue())
                .header("Content-Type", "application/json").POST(BodyPublishers.ofString(body)).build();
    }

    CompletableFuture<HttpResponse<String>> sendCall(String name, String arguments) {
        return http.sendAsync(request(message("tools/call", "{\"name\": \"" + name + "\", \"arguments\": "
                + arguments + ", \"_meta\": {\"progressToken\": \"" + System.nanoTime() + "\"}}")),
                BodyHandlers.ofString());
    }

    JsonNode rpc(String method, String params) throws Exception {
        return Json.read(http.send(request(message(method, params)), BodyHandlers.ofString()).body());
    }

    JsonNode call(String name, String arguments) {
        return result(sendCall(name, arguments).join());
    }

    List<JsonNode> calls() {
        return api.get("/api/v1/runs/" + run + "/steps").json().get("items").valueStream()
                .filter(step -> step.get("kind").stringValue().equals("call")).toList();
    }

    void awaitCalls(int count) {
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> calls().size() == count);
    }

    List<String> names() throws Exception {
        return rpc("tools/list", "{}").at("/result/tools").valueStream().map(each -> each.get("name").stringValue())
                .toList();
    }

    JsonNode report(String route, String members) {
        return report(api, "w", route, item, members);
    }

    static JsonNode report(ApiServer api, String worker, String route, JsonNode item, String members) {
        return api.post("/api/v1/dispatch/" + route, "{\"worker_id\": \"" + worker
                + "\", \"items\": [{\"step_id\": " + item.get("step_id") + ", \"lease_epoch\": "
                + item.get("lease_epoch") + members + "}]}").json().at("/items/0");
    }

    /** Serves a tool that programs may call. */
    static JsonNode serve(ApiServer api, String tool, String effects, int wait) {
        return api.post("/api/v1/dispatch/claim", """
                {"worker_id": "server", "tools": ["%1$s"], "wait_ms": %2$d, "tool_specs": [{"name": "%1$s",
                  "effects": "%3$s", "description": "Echoes", "input_schema": {"type": "object",
                  "required": ["n"], "properties": {"n": {"type": "integer"}}}}]}""".formatted(tool, wait, effects))
                .json().get("items");
    }

    /** The item of the inbox about the run. */
    JsonNode item(String kind) {
        return Awaitility.await().atMost(Duration.ofSeconds(20)).until(
                () -> api.get("/api/v1/inbox?run_id=" + run).json().get("items").valueStream()
                        .filter(each -> each.get("kind").stringValue().equals(kind)).findFirst().orElse(null),
                found -> found != null);
    }

    static String message(String method, String params) {
        return "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"" + method + "\", \"params\": " + params + "}";
    }

    static JsonNode result(HttpResponse<String> response) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return Json.read(response.body()).get("result");
    }

    static String text(JsonNode result) {
        return result.at("/content/0/text").stringValue();
    }

    static boolean replayed(HttpResponse<String> response) {
        return response.headers().firstValue("x-keelson-replayed").isPresent();
    }
}
