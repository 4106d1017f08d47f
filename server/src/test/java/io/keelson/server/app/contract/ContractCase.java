package io.keelson.server.app.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.api.trigger.Trigger;
import io.keelson.client.EventStream;
import io.keelson.client.InboxQuery;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.Page;
import io.keelson.client.RetryFrom;
import io.keelson.client.RunFilter;
import io.keelson.client.RunQuery;
import io.keelson.client.RunRequest;
import io.keelson.client.worker.Effects;
import io.keelson.client.worker.ToolSpec;
import io.keelson.client.worker.Worker;
import io.keelson.server.base.json.Json;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/** One execution of a case of the contract suite with the Java client. */
public final class ContractCase {
    private static final String AWAY = "http://127.0.0.1:9";
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Pattern NAMES = Pattern.compile("\\$(KEY|TOOL|AGENT)");

    /** A server, and its key. */
    public record Target(String server, String key) {}

    private final JsonNode document;
    private final JsonNode missions;
    private final Target target;
    private final ContractSuite.Proxy proxy;
    private final Map<String, String> names;
    private final Set<String> used;
    private final ContractHandlers handlers = new ContractHandlers();
    private @Nullable Worker worker;
    private @Nullable Run run;
    private @Nullable Trigger trigger;

    /** The last call. */
    private record Outcome(@Nullable Object result, @Nullable KeelsonException error, Duration took) {}

    public ContractCase(JsonNode document, JsonNode missions, Target target, ContractSuite.Proxy proxy) {
        String unique = UUID.randomUUID().toString().substring(0, 12);
        names = Map.of("KEY", "case " + document.path("name").stringValue() + " " + unique, "TOOL",
                "contract." + unique,
                "AGENT", "agent-" + unique);
        String all = document.toString() + document.path("when").valueStream()
                .map(call -> missions.path(call.path("mission").asString("")).toString()).toList();
        used = Set.copyOf(names.keySet().stream().filter(name -> all.contains("$" + name)).toList());
        this.document = filled(document);
        this.missions = filled(missions);
        this.target = target;
        this.proxy = proxy;
    }

    /** Executes the case. Throws if an expectation does not hold. */
    public void execute() throws Exception {
        JsonNode given = document.path("given");
        proxy.begin(Json.array());
        if (used.contains("TOOL")) {
            ObjectNode body = Json.object().put("worker_id", "contract");
            body.putArray("tool_specs").addObject().put("name", names.get("TOOL"));
            ContractSuite.http(target.server() + "/api/v1/dispatch/register", body, target.key());
        }
        if (used.contains("AGENT")) {
            ObjectNode body = Json.object().put("slug", names.get("AGENT"));
            body.putArray("tools").add("echo");
            ContractSuite.http(target.server() + "/api/v1/agents", body, target.key());
        }
        proxy.begin(given.has("faults") ? given.path("faults") : Json.array());
        JsonNode wanted = given.path("client");
        Keelson client = Keelson.builder()
                .url(wanted.path("server").asString("").equals("away") ? AWAY : proxy.url())
                .apiKey(wanted.path("api_key").asString(target.key()))
                .timeout(Duration.ofMillis(wanted.path("timeout_ms").asLong(30_000)))
                .silence(Duration.ofMillis(wanted.path("silence_ms").asLong(20_000))).build();
        Outcome outcome;
        try {
            outcome = calls(client);
        } finally {
            stopWorker();
        }
        judge(client, outcome);
    }

    private Outcome calls(Keelson client) throws Exception {
        List<JsonNode> calls = document.path("when").valueStream().toList();
        Outcome outcome = new Outcome(null, null, Duration.ZERO);
        for (JsonNode call : calls) {
            if (outcome.error() != null) {
                throw outcome.error();
            }
            long begun = System.nanoTime();
            try {
                Object result = call(client, call);
                outcome = new Outcome(result, null, Duration.ofNanos(System.nanoTime() - begun));
                if (Set.of("create", "fork").contains(call.path("call").stringValue())) {
                    run = (Run) result;
                }
            } catch (KeelsonException e) {
                outcome = new Outcome(null, e, Duration.ofNanos(System.nanoTime() - begun));
            }
        }
        return outcome;
    }

    private @Nullable Object call(Keelson client, JsonNode call) throws Exception {
        String id = call.path("id").asString(run == null ? "" : run.id());
        String reason = call.path("reason").stringValue(null);
        return switch (call.path("call").stringValue()) {
            case "create" -> client.runs().create(request(call));
            case "get" -> client.runs().get(id);
            case "start" -> client.runs().start(id);
            case "explain" -> client.runs().explain(id);
            case "wait" -> client.runs().awaitEnd(id, Duration.ofMillis(call.path("timeout_ms").asLong(30_000)));
            case "await_run" -> awaitRun(client, id, call, "");
            case "await_undo" -> awaitRun(client, id, call, "/undo");
            case "approve" -> client.runs().approve(id, reason);
            case "cancel" -> client.runs().cancel(id, reason);
            case "undo" -> client.runs().undo(id, reason);
            case "restore" -> client.archive().restore(id);
            case "signal" -> client.runs().signal(id, call.path("name").stringValue(), call.path("payload"));
            case "retry" -> client.runs().retry(id,
                    RetryFrom.valueOf(call.path("from").asString("failed").toUpperCase(Locale.ROOT)));
            case "fork" -> client.runs().fork(id, call.path("task").stringValue(), objects(call.path("inputs")), null);
            case "list" -> items(listed(client, call));
            case "steps" -> items(client.runs().steps(id));
            case "artifacts" -> items(client.runs().artifacts(id));
            case "logs" -> items(client.runs().steps(id).stream().map(Step::id).map(client.steps()::logs)
                    .flatMap(List::stream).toList());
            case "events" -> events(client, id, call);
            case "inbox" -> decided(client, client.inbox()
                    .list(InboxQuery.all().run(id)).items().getFirst().id(), call);
            case "step" -> decided(client, client.runs().steps(id).getFirst().id(), call);
            case "request" -> client.api().post(call.path("path").stringValue(), call.path("body"));
            case "trigger" -> created(client, call);
            case "trigger_off" -> client.triggers().enable(Objects.requireNonNull(trigger).id(), false);
            case "deliveries" ->
                items(client.triggers().deliveries(Objects.requireNonNull(trigger).id(), null, 100));
            case "send_event" -> items(client.triggers().send(call.path("name").stringValue(),
                    call.path("event_id").stringValue(), call.path("data")));
            case "start_worker" -> start();
            case "stop_worker" -> stopWorker();
            case "await_tool" -> awaitTool(call);
            default -> throw new AssertionError("no call " + call);
        };
    }

    /** The run, once what is at the pointer has all members of the call. */
    private static Run awaitRun(Keelson client, String id, JsonNode call, String pointer) {
        return Awaitility.await().atMost(LONG).pollInterval(Duration.ofMillis(20)).until(() -> client.runs().get(id),
                found -> call.properties().stream().filter(each -> !each.getKey().equals("call"))
                        .allMatch(each -> each.getValue().equals(tree(found).at(pointer).path(each.getKey()))));
    }

    private Trigger created(Keelson client, JsonNode call) {
        trigger = client.triggers()
                .create((ObjectNode) missions.path(call.path("mission").stringValue()));
        return trigger;
    }

    /** A decision by the id of an item of the inbox or of a step. */
    private static Object decided(Keelson client, String id, JsonNode call) {
        String reason = call.path("reason").stringValue(null);
        return switch (call.path("call").stringValue() + " " + call.path("answer").stringValue()) {
            case "inbox accept" -> client.inbox().accept(id, reason);
            case "inbox reject" -> client.inbox().reject(id, reason);
            case "step approve" -> client.steps().approve(id, reason);
            default -> client.steps().reject(id, reason);
        };
    }

    private RunRequest request(JsonNode call) {
        RunRequest request = RunRequest.of(missions.path(call.path("mission").stringValue()));
        for (Map.Entry<String, Object> input : objects(call.path("inputs")).entrySet()) {
            request = request.input(input.getKey(), input.getValue());
        }
        if (call.path("start").asBoolean(true)) {
            request = request.start();
        }
        return call.has("idempotency_key") ? request.idempotencyKey(call.path("idempotency_key").stringValue())
                : request;
    }

    private static List<Run> listed(Keelson client, JsonNode call) {
        RunFilter filter = call.has("name") ? RunFilter.all().name(call.path("name").stringValue()) : RunFilter.all();
        List<Run> runs = new ArrayList<>();
        Page<Run> page = null;
        do {
            page = client.runs().list(RunQuery.of(filter).from(page == null ? null : page.nextCursor())
                    .limit(call.path("limit").asInt(100)).archived(call.path("archived").asBoolean(false)));
            runs.addAll(page.items());
        } while (page.nextCursor() != null);
        return runs;
    }

    private static JsonNode items(List<?> items) {
        ArrayNode all = Json.array();
        items.forEach(each -> all.add(tree(each)));
        return Json.object().set("items", all);
    }

    private static JsonNode events(Keelson client, String id, JsonNode call) {
        long after = call.path("after").asLong(0);
        List<EventStream.Live> seen = new ArrayList<>();
        try (EventStream stream = client.runs().eventStream(id, Set.of(), true, after)) {
            EventStream.Live event = stream.next();
            while (event != null) {
                seen.add(event);
                event = seen.size() == call.path("take").asInt(-1) ? null : stream.next();
            }
        }
        ObjectNode summary = Json.object().put("count", seen.size());
        boolean gapless = true;
        for (int i = 0; i < seen.size(); i++) {
            gapless &= seen.get(i).id() == after + 1 + i;
        }
        summary.put("gapless", gapless);
        if (!seen.isEmpty()) {
            summary.put("first_seq", seen.getFirst().id()).put("first", type(seen.getFirst())).put("last",
                    type(seen.getLast()));
        }
        return summary;
    }

    private static String type(EventStream.Live event) {
        return io.keelson.client.Json.document(event.data(), Event.class).eventType();
    }

    private @Nullable Object start() {
        JsonNode given = document.path("given").path("worker");
        Worker.Builder builder = Worker.builder(Keelson.builder().url(proxy.url()).apiKey(target.key()).build())
                .lease(Duration.ofMillis(given.path("lease_ms").asLong(30_000)))
                .grace(Duration.ofMillis(given.path("grace_ms").asLong(5_000)))
                .slots(given.path("slots").asInt(8)).poll(Duration.ofMillis(500));
        if (given.has("chain_ms")) {
            builder.chain(Duration.ofMillis(given.path("chain_ms").longValue()));
        }
        given.path("tools").forEachEntry((name, executions) -> {
            handlers.serve(name, executions);
            JsonNode effects = given.path("effects").path(name);
            builder.tool(new ToolSpec(name, null, null,
                    effects.isMissingNode() ? null : Effects.valueOf(effects.stringValue().toUpperCase(Locale.ROOT))),
                    step -> handlers.tool(name, step));
        });
        given.path("agents").forEachEntry((slug, executions) -> {
            handlers.serve(slug, executions);
            builder.agent(handlers::agent);
        });
        worker = builder.build().start();
        return null;
    }

    private @Nullable Object stopWorker() {
        if (worker != null) {
            worker.close();
        }
        return null;
    }

    private @Nullable Object awaitTool(JsonNode call) throws InterruptedException {
        for (Map.Entry<String, JsonNode> wanted : call.properties()) {
            if (!wanted.getKey().equals("call")) {
                handlers.await(names.get("TOOL"), wanted.getKey(), wanted.getValue().intValue());
            }
        }
        return null;
    }

    private void judge(Keelson client, Outcome outcome) throws Exception {
        JsonNode then = document.path("then");
        KeelsonException error = outcome.error();
        if (error != null && !then.has("error")) {
            throw error;
        }
        Object shown = error == null ? outcome.result() : error;
        if (then.has("error")) {
            assertThat(error).as("the error, instead of %s", outcome.result()).isNotNull();
            compare(then.path("error"), document(error), "error");
        }
        if (then.has("result")) {
            compare(then.path("result"), tree(outcome.result()), "result");
        }
        then.path("types").forEachEntry((name, kind) -> assertThat(type(outcome.result(), name)).as("type of %s", name)
                .isEqualTo(kind.stringValue().equals("decimal") ? BigDecimal.class : Instant.class));
        JsonNode took = then.path("took_ms");
        assertThat(outcome.took().toMillis()).as("duration of the call").isBetween(took.path("at_least").asLong(0),
                took.path("at_most").asLong(Long.MAX_VALUE));
        if (then.has("run")) {
            Awaitility.await().atMost(Duration.ofSeconds(10)).pollInterval(Duration.ofMillis(50)).untilAsserted(
                    () -> compare(then.path("run"), ContractSuite
                            .http(target.server() + "/api/v1/runs/" + run.id(), null, target.key()), "run"));
        }
        judgeRequests(then);
        then.path("tools").forEachEntry((name, wanted) -> wanted.forEachEntry((what, count) -> assertThat(
                handlers.count(name, what)).as("%s of %s", what, name).isEqualTo(count.intValue())));
        List<String> secrets = new ArrayList<>(List.of(target.key()));
        then.path("hidden").forEach(each -> secrets.add(each.stringValue()));
        assertThat(client + " " + client.api() + " " + shown + " " + trace(error)).doesNotContain(secrets);
    }

    private void judgeRequests(JsonNode then) throws Exception {
        for (Map.Entry<String, JsonNode> route : then.path("requests").properties()) {
            List<JsonNode> log = proxy.log(route.getKey());
            compare(route.getValue(), Json.object().put("sent", log.size()).put("reached",
                    log.stream().filter(each -> each.path("reached").asBoolean()).count()), route.getKey());
        }
        for (Map.Entry<String, JsonNode> route : then.path("same_header").properties()) {
            assertThat(proxy.log(route.getKey()).stream()
                    .map(each -> each.path("headers").path(route.getValue().stringValue()).asString("")).distinct())
                    .as("%s of %s", route.getValue(), route.getKey()).hasSize(1).doesNotContain("");
        }
    }

    private static ObjectNode document(KeelsonException error) {
        ObjectNode document = Json.object().put("code", error.code()).put("status", error.status());
        if (error.retryAfter() != null) {
            document.put("retry_after", error.retryAfter().toSeconds());
        }
        ArrayNode problems = document.putArray("problems");
        error.problems().forEach(each -> problems.add(tree(each)));
        return document;
    }

    private static String trace(@Nullable KeelsonException error) {
        StringBuilder text = new StringBuilder();
        for (Throwable each = error; each != null; each = each.getCause()) {
            text.append(each).append(Arrays.toString(each.getStackTrace()));
        }
        return text.toString();
    }

    private static @Nullable Class<?> type(Object result, String member) {
        return Arrays.stream(result.getClass().getRecordComponents())
                .filter(each -> each.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT).equals(member))
                .findFirst().map(RecordComponent::getType).orElse(null);
    }

    private static JsonNode tree(@Nullable Object value) {
        return value instanceof JsonNode node ? node : io.keelson.client.Json.document(value);
    }

    /** Throws unless the value is as wanted. */
    private static void compare(JsonNode wanted, JsonNode value, String where) {
        if (wanted.isObject()) {
            wanted.forEachEntry((name, each) -> compare(each, value.path(name), where + "." + name));
        } else if (wanted.isArray()) {
            assertThat(value.size()).as("elements of %s: %s", where, value).isEqualTo(wanted.size());
            for (int i = 0; i < wanted.size(); i++) {
                compare(wanted.get(i), value.get(i), where + "[" + i + "]");
            }
        } else if (wanted.isString() && wanted.stringValue().startsWith("~")) {
            assertThat(value.asString("")).as(where).containsPattern(wanted.stringValue().substring(1));
        } else if (wanted.isNull()) {
            assertThat(value.isNull() || value.isMissingNode()).as("%s is null: %s", where, value).isTrue();
        } else if (wanted.isNumber() && value.isNumber()) {
            assertThat(value.decimalValue()).as(where).isEqualByComparingTo(wanted.decimalValue());
        } else {
            assertThat(value.isNumber() ? StringNode.valueOf(value.decimalValue().stripTrailingZeros().toPlainString())
                    : value).as(where).isEqualTo(wanted);
        }
    }

    private JsonNode filled(JsonNode part) {
        if (part.isString()) {
            return StringNode.valueOf(filled(part.stringValue()));
        }
        if (part.isArray()) {
            ArrayNode all = Json.array();
            part.forEach(each -> all.add(filled(each)));
            return all;
        }
        if (part.has("$repeat")) {
            return StringNode.valueOf(part.path("$repeat").stringValue().repeat(part.path("times").intValue()));
        }
        if (part.isObject()) {
            ObjectNode all = Json.object();
            part.forEachEntry((name, each) -> all.set(filled(name), filled(each)));
            return all;
        }
        return part;
    }

    private String filled(String text) {
        return NAMES.matcher(text).replaceAll(found -> names.get(found.group(1)));
    }

    private static Map<String, Object> objects(JsonNode members) {
        Map<String, Object> values = new HashMap<>();
        members.forEachEntry((name, each) -> values.put(name, javaValue(each)));
        return values;
    }

    /** A value of a case for the client. JSON lacks an object that contains itself. */
    static Object javaValue(JsonNode value) {
        if (!value.has("$unserializable")) {
            return value;
        }
        Map<String, Object> itself = new HashMap<>();
        itself.put("itself", itself);
        return itself;
    }
}
