package io.keelson.client.worker;

import io.keelson.client.Api;
import io.keelson.client.Json;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The worker's calls to {@code /dispatch}. Each throws {@link io.keelson.client.KeelsonException}; none repeats. */
final class Dispatch {

    /** How long an answer may take beyond the time that the server was asked to hold the call open. */
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(15);

    /** The lease is kept meanwhile; who loses it is interrupted. */
    private static final Duration UPLOAD_LIMIT = Duration.ofHours(12);

    private final Api api;
    private final String workerId;
    private final @Nullable String version;
    private final Set<String> tools;
    private final Collection<ToolSpec> specs;
    private final Duration lease;
    private volatile boolean announced;

    /**
     * @param tools names of the served tools
     * @param specs the announced tools, sent with claims until a claim is answered
     * @param lease of every step that the worker gets
     */
    Dispatch(Api api, String workerId, @Nullable String version, Set<String> tools,
            Collection<ToolSpec> specs, Duration lease) {
        this.api = api;
        this.workerId = workerId;
        this.version = version;
        this.tools = tools;
        this.specs = specs;
        this.lease = lease;
    }

    /** Steps under new leases: at once when there are any, else as soon as one is ready, else none. */
    List<Assignment> claim(int max, Duration wait) {
        ObjectNode body = asking(body().put("max", max).put("wait_ms", wait.toMillis()).put("again", true));
        if (version != null) {
            body.put("version", version);
        }
        if (!announced) {
            specs.forEach(spec -> body.withArrayProperty("tool_specs").add(spec.document()));
        }
        JsonNode answer = api.post("/dispatch/claim", body, wait.plus(ANSWER_TIMEOUT));
        announced = true;
        return answer.path("items").valueStream().map(Assignment::of).toList();
    }

    /**
     * The server's answers in the order of the items; null where it gave none.
     *
     * @param limit for the answer: a call that hangs must not cost the leases
     */
    List<@Nullable JsonNode> heartbeat(List<ObjectNode> items, Duration limit) {
        return batch("/dispatch/heartbeat", body(), items,
                limit.compareTo(ANSWER_TIMEOUT) < 0 ? limit : ANSWER_TIMEOUT);
    }

    /**
     * Sends reports to the route of their kind.
     *
     * @param requestNext whether the answer to a completed step may contain the next step of its task
     */
    List<@Nullable JsonNode> report(ExecutionResult.Kind kind, List<ObjectNode> items, boolean requestNext) {
        ObjectNode body = body();
        if (requestNext && kind == ExecutionResult.Kind.COMPLETE) {
            body.set("next", asking(Json.object()));
        }
        return batch("/dispatch/" + kind.name().toLowerCase(Locale.ROOT), body, items, ANSWER_TIMEOUT);
    }

    /** Sends a file for a step that the worker holds; answers the id that the step's result names it by. */
    String upload(Assignment assignment, String name, String contentType, Path file) {
        String path = "/dispatch/artifacts?worker_id=" + encoded(workerId) + "&step_id=" + assignment.stepId()
                + "&lease_epoch=" + assignment.leaseEpoch() + "&name=" + encoded(name);
        return api.upload(path, contentType, file, UPLOAD_LIMIT).path("upload_id").asString();
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private ObjectNode asking(ObjectNode claim) {
        tools.forEach(claim.withArrayProperty("tools")::add);
        return claim.put("lease_ms", lease.toMillis());
    }

    private List<@Nullable JsonNode> batch(String path, ObjectNode body, List<ObjectNode> items, Duration limit) {
        ArrayNode array = body.withArrayProperty("items");
        items.forEach(array::add);
        Collection<JsonNode> answers = new ArrayList<>(api.post(path, body, limit).path("items").values());
        List<@Nullable JsonNode> matched = new ArrayList<>();
        for (ObjectNode item : items) {
            matched.add(takeFor(item.path("step_id").asString(), answers));
        }
        return matched;
    }

    /** A step may stand in one batch twice, under two leases; its answers come in the order of its items. */
    private static @Nullable JsonNode takeFor(String stepId, Collection<JsonNode> answers) {
        for (Iterator<JsonNode> i = answers.iterator(); i.hasNext();) {
            JsonNode answer = i.next();
            if (answer.path("step_id").asString("").equals(stepId)) {
                i.remove();
                return answer;
            }
        }
        return null;
    }

    private ObjectNode body() {
        return Json.object().put("worker_id", workerId);
    }
}
