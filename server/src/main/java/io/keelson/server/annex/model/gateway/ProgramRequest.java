package io.keelson.server.annex.model.gateway;

import io.keelson.core.money.WorstCase;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.wire.PassedKind;
import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.api.http.support.MountedRequest;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A program's request to a model, checked.
 *
 * @param body as it came
 * @param bytes its length
 * @param model as the program names it
 * @param headers that go on to the provider
 * @param retry whether the client marks the request as a repetition
 * @param hidden tokens of input that the provider has and the body does not show
 */
record ProgramRequest(GatewayPath path, ObjectNode body, int bytes, String model, boolean stream, RequestKeys keys,
        String userAgent, Map<String, String> headers, boolean retry, long hidden) {

    /** Hidden tokens of which nothing is known. */
    static final long UNKNOWN = Integer.MAX_VALUE;

    /** The least output with which a request is sent that its limits do not pay whole. */
    private static final long LEAST_OUTPUT = 2_048;
    private static final int BAD_REQUEST = 400;
    private static final int EXCERPT = 200;
    /** Tools that a provider executes itself, at a price that is no price of tokens. */
    private static final Set<String> PROVIDER_TOOLS = Set.of("file_search", "code_interpreter", "image_generation",
            "mcp", "mcp_toolset");
    private static final Set<String> PROVIDER_TOOL_MEMBERS = Set.of("mcp_servers", "web_search_options");
    private static final Pattern PROVIDER_TOOL = Pattern.compile("web_search.*|web_fetch_.*|code_execution_.*");

    /**
     * Reads a request.
     *
     * @throws GatewayError {@code invalid_request} or {@code unsupported_parameter}
     */
    static ProgramRequest read(GatewayPath path, MountedRequest request) throws GatewayError, IOException {
        byte[] bytes = request.body().bytes();
        ObjectNode body;
        try {
            body = OutsideJson.readStrict(bytes) instanceof ObjectNode object ? object : null;
        } catch (JacksonException e) {
            throw invalid("the body is not JSON: " + Excerpt.firstLine(e.getOriginalMessage()));
        }
        if (body == null || !body.path("model").isString()) {
            throw invalid("the body must be an object with the text 'model'");
        }
        JsonNode messages = body.path(path.input());
        boolean mayBeText = path.input().equals("input");
        if (!messages.isArray() && !(mayBeText && messages.isString())) {
            throw invalid("the body has no " + (mayBeText ? "'input'" : "list 'messages'"));
        }
        if (!body.path("stream_options").isMissingNode() && !body.path("stream_options").isNull()
                && !body.path("stream_options").isObject()) {
            throw invalid("'stream_options' must be an object");
        }
        for (String bound : path.bounds()) {
            JsonNode tokens = body.path(bound);
            if (body.hasNonNull(bound) && !(tokens.isIntegralNumber() && tokens.canConvertToLong()
                    && tokens.longValue() > 0)) {
                throw invalid("'" + bound + "' must be a whole number above 0");
            }
        }
        refuseExtras(body);
        if (path == GatewayPath.EMBEDDINGS) {
            EmbeddingsInput.check(body);
        }
        String agent = Objects.requireNonNullElse(request.header("User-Agent"), "");
        Map<String, String> headers = new LinkedHashMap<>();
        String version = "";
        if (path == GatewayPath.MESSAGES || path == GatewayPath.COUNT_TOKENS) {
            version = Objects.requireNonNullElse(request.header("anthropic-version"), "");
            for (String name : Set.of("anthropic-version", "anthropic-beta")) {
                String value = request.header(name);
                if (value != null) {
                    headers.put(name, value);
                }
            }
        }
        String retries = Objects.requireNonNullElse(request.header("x-stainless-retry-count"), "0");
        return new ProgramRequest(path, body, bytes.length, body.get("model").stringValue(),
                body.path("stream").asBoolean(false) && path.kind() == PassedKind.ANSWER,
                RequestKeys.of(path, body, version, agent),
                agent.substring(0, Math.min(EXCERPT, agent.length())), headers, !retries.equals("0"), 0);
    }

    private static void refuseExtras(ObjectNode body) throws GatewayError {
        JsonNode answers = body.path("n");
        if (body.hasNonNull("n") && !(answers.isNumber() && answers.decimalValue().compareTo(BigDecimal.ONE) == 0)) {
            throw new GatewayError(BAD_REQUEST, "unsupported_parameter",
                    "the gateway sends requests for one answer: leave out 'n', and send several requests");
        }
        if (body.path("background").asBoolean(false)) {
            throw new GatewayError(BAD_REQUEST, "unsupported_parameter",
                    "the gateway reads each answer itself: leave out 'background'");
        }
        for (String member : PROVIDER_TOOL_MEMBERS) {
            if (body.hasNonNull(member) && !(body.get(member).isArray() && body.get(member).isEmpty())) {
                throw new GatewayError(BAD_REQUEST, "unsupported_parameter",
                        "the gateway cannot price tools that the provider executes itself: leave out '" + member + "'");
            }
        }
        for (JsonNode tool : body.path("tools")) {
            String type = tool.path("type").asString("");
            if (PROVIDER_TOOLS.contains(type) || PROVIDER_TOOL.matcher(type).matches()) {
                throw new GatewayError(BAD_REQUEST, "unsupported_parameter", "the gateway cannot price the tool '"
                        + Excerpt.piece(type) + "', which the provider executes itself");
            }
        }
    }

    static GatewayError invalid(String message) {
        return new GatewayError(BAD_REQUEST, "invalid_request", message);
    }

    boolean codex() {
        return userAgent.startsWith("codex");
    }

    /** The request with another body, and with its keys as they are. */
    ProgramRequest with(ObjectNode other, long hiddenTokens) {
        return new ProgramRequest(path, other, Json.write(other).length, model, stream, keys, userAgent, headers, retry,
                hiddenTokens);
    }

    /**
     * The most that the request may use: each token of the input has at least one byte, unless the body refers to input elsewhere. Each
     * text of a request for embeddings has a context of its own.
     *
     * @param sent bytes of the body that the provider gets
     */
    WorstCase most(ConfiguredModel of, int sent) {
        long written = WorstCase.maxInput(0, 0, Math.max(bytes, sent), of.bytesPerToken().doubleValue());
        long input = path == GatewayPath.EMBEDDINGS ? written
                : OutsideInput.isIn(body) ? of.contextTokens() : Math.min(written + hidden, of.contextTokens());
        return new WorstCase(of.name(), input, bound(of), true);
    }

    private long bound(ConfiguredModel of) {
        if (path.bounds().isEmpty()) {
            return 0;
        }
        long most = path.bounds().stream().mapToLong(this::requestedOutput).max().orElse(0);
        return most > 0 ? Math.min(most, of.maxOutputTokens()) : of.maxOutputTokens();
    }

    /** The bound of output that a member of the body has, or 0. */
    private long requestedOutput(String member) {
        return body.path(member).asLong(0);
    }

    /** The least output that is of use to the program. */
    long leastOutput() {
        return Math.max(LEAST_OUTPUT, body.at("/thinking/budget_tokens").asLong(0) + 1);
    }

    /** The body for the provider: as it came but for the model's name and each bound of output. */
    byte[] providerBody(ConfiguredModel to, long output) {
        ObjectNode sent = body.deepCopy();
        sent.put("model", to.model());
        List<String> bounds = path.bounds().stream().filter(body::hasNonNull).toList();
        boolean adds = bounds.isEmpty() && !path.bounds().isEmpty();
        for (String bound : adds ? List.of(bound(to.baseUrl().getHost())) : bounds) {
            if (!body.hasNonNull(bound) || requestedOutput(bound) > output) {
                sent.put(bound, output);
            }
        }
        if (path == GatewayPath.CHAT && stream) {
            sent.withObjectProperty("stream_options").put("include_usage", true);
        }
        return Json.write(sent);
    }

    private String bound(String host) {
        return path == GatewayPath.CHAT && !(host != null && host.endsWith(".openai.com")) ? "max_tokens"
                : path.bounds().getFirst();
    }

    /** Whether the program wants the event of chat completions that has the usage. */
    boolean wantsUsage() {
        return body.at("/stream_options/include_usage").asBoolean(false);
    }

    /** Facts for the record: digests and beginnings of the messages, by which a difference is found. */
    ObjectNode facts(String node, String provider) {
        ObjectNode facts = Json.object().put("node", node).put("provider", provider).put("path", path.path())
                .put("user_agent", userAgent)
                .put("stream", stream);
        ArrayNode parts = facts.putArray("messages");
        JsonNode system = body.path(path == GatewayPath.RESPONSES ? "instructions" : "system");
        if (!system.isMissingNode()) {
            part(parts, "system", system);
        }
        if (body.has("tools")) {
            part(parts, "tools", body.get("tools"));
        }
        JsonNode all = body.path(path.input());
        if (all.isString() || path == GatewayPath.EMBEDDINGS) {
            part(parts, "user", all);
            return facts;
        }
        all.values()
                .forEach(each -> part(parts, each.path("role").asString(each.path("type").asString("")), each));
        return facts;
    }

    private static void part(ArrayNode parts, String role, JsonNode message) {
        String text = message.isString() ? message.stringValue() : message.toString();
        parts.addObject().put("role", role).put("sha256", Json.digest(message).substring(0, 16))
                .put("text", text.substring(0, Math.min(EXCERPT, text.length())));
    }
}
