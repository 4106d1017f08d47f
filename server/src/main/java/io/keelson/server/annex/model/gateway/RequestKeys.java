package io.keelson.server.annex.model.gateway;

import io.keelson.server.base.json.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The keys by which a program that is executed again finds its answers.
 *
 * @param k1 digest of path and body without members that do not change an answer
 * @param k2 digest after the rules for ids of clients, for the order of results and for known clients; equal keys {@code k1} have equal
 *     keys {@code k2}
 */
record RequestKeys(String k1, String k2) {

    private static final Set<String> WITHOUT = Set.of("user", "stream", "stream_options", "metadata",
            "client_metadata", "prompt_cache_key", "prompt_cache_retention", "safety_identifier");
    private static final String CACHE = "cache_control";
    private static final Set<String> RESULT_TYPES = Set.of("function_call_output", "custom_tool_call_output",
            "local_shell_call_output", "tool_result");

    /** Rules for the texts of a client, found by the beginning of its user agent. */
    private enum Profile {
        NONE("", ""),
        /** Results of commands have a random id and the time that they took. */
        CODEX("codex", "(?m)^(Chunk ID: \\S+|Wall time: [\\d.]+ seconds)$"),
        /** The last result of a turn has a reminder of the rest of its tokens. */
        CLAUDE("claude-cli",
                "(?s)\\n?<system-reminder>(?:(?!</system-reminder>).)*<total_tokens>.*?</system-reminder>");

        private final String agent;
        private final Pattern volatileText;

        Profile(String agent, String pattern) {
            this.agent = agent;
            this.volatileText = Pattern.compile(pattern);
        }

        static Profile of(String userAgent) {
            for (Profile each : values()) {
                if (each != NONE && userAgent.startsWith(each.agent)) {
                    return each;
                }
            }
            return NONE;
        }

        String stable(String text) {
            return (this == NONE ? text : volatileText.matcher(text).replaceAll("")).stripTrailing();
        }
    }

    /** @param version of the API that changes the form of answers; empty if absent */
    static RequestKeys of(GatewayPath path, ObjectNode body, String version, String userAgent) {
        ObjectNode canonical = (ObjectNode) without(body);
        canonical.remove(WITHOUT);
        canonical.put("", path.path() + " " + version);
        Profile profile = Profile.of(userAgent);
        ObjectNode stable = canonical.deepCopy();
        if (stable.path("input") instanceof ArrayNode input) {
            stable.set("input", ordered(items(input, profile), "call_id"));
        }
        if (stable.path("messages") instanceof ArrayNode messages) {
            stable.set("messages", messages(messages, profile));
        }
        if (profile == Profile.CLAUDE && stable.path("system") instanceof ArrayNode system) {
            ArrayNode kept = Json.array();
            system.forEach(block -> {
                if (!block.path("text").asString("").startsWith("x-anthropic-billing-header")) {
                    kept.add(block);
                }
            });
            stable.set("system", kept);
        }
        return new RequestKeys(Json.digest(canonical), Json.digest(stable));
    }

    /** A copy without marks for the provider's cache, at any depth. */
    private static JsonNode without(JsonNode node) {
        if (node instanceof ObjectNode object) {
            ObjectNode copy = Json.object();
            object.properties().stream().filter(each -> !each.getKey().equals(CACHE))
                    .forEach(each -> copy.set(each.getKey(), without(each.getValue())));
            return copy;
        }
        if (node instanceof ArrayNode array) {
            ArrayNode copy = Json.array();
            array.forEach(each -> copy.add(without(each)));
            return copy;
        }
        return node;
    }

    /** Ids that clients make are dropped; references to stored items stay. */
    private static List<JsonNode> items(ArrayNode input, Profile profile) {
        List<JsonNode> items = new ArrayList<>();
        for (JsonNode item : input) {
            if (item instanceof ObjectNode object && !item.path("type").asString("").equals("item_reference")) {
                object.remove("id");
                if (RESULT_TYPES.contains(item.path("type").asString(""))) {
                    stabilize(object, "output", profile);
                }
            }
            items.add(item);
        }
        return items;
    }

    private static ArrayNode messages(ArrayNode messages, Profile profile) {
        List<JsonNode> all = new ArrayList<>();
        for (JsonNode message : messages) {
            if (message instanceof ObjectNode object && message.path("role").asString("").equals("tool")) {
                stabilize(object, "content", profile);
            } else if (message instanceof ObjectNode object && message.path("content") instanceof ArrayNode content) {
                List<JsonNode> blocks = new ArrayList<>();
                for (JsonNode block : content) {
                    boolean result = block.path("type").asString("").equals("tool_result");
                    if (result) {
                        stabilize((ObjectNode) block, "content", profile);
                    }
                    boolean empty = block instanceof ObjectNode text && block.path("type").asString("").equals("text")
                            && profile == Profile.CLAUDE && stabilize(text, "text", profile).isEmpty();
                    if (!empty) {
                        blocks.add(block);
                    }
                }
                object.set("content", ordered(blocks, "tool_use_id"));
            }
            all.add(message);
        }
        return ordered(all, "tool_call_id");
    }

    /** The text after the rules; empty where the member is no text. */
    private static String stabilize(ObjectNode owner, String member, Profile profile) {
        JsonNode value = owner.path(member);
        if (value.isString()) {
            String stable = profile.stable(value.stringValue());
            owner.put(member, stable);
            return stable;
        }
        value.forEach(part -> {
            if (part instanceof ObjectNode block && part.path("text").isString()) {
                block.put("text", profile.stable(part.path("text").stringValue()));
            }
        });
        return value.toString();
    }

    /** Puts results that follow each other into the order of their calls. */
    private static ArrayNode ordered(List<JsonNode> items, String idMember) {
        Map<String, Integer> calls = new HashMap<>();
        for (JsonNode item : items) {
            call(calls, item);
            item.path("tool_calls").forEach(each -> call(calls, each));
            item.path("content").forEach(each -> call(calls, each));
        }
        ArrayNode ordered = Json.array();
        int at = 0;
        while (at < items.size()) {
            int end = at;
            while (end < items.size() && items.get(end).has(idMember) && isResult(items.get(end))) {
                end++;
            }
            if (end == at) {
                ordered.add(items.get(at++));
            } else {
                List<JsonNode> run = new ArrayList<>(items.subList(at, end));
                Map<String, Integer> order = idMember.equals("tool_use_id") ? Map.of() : calls;
                run.sort((one, other) -> {
                    int a = order.getOrDefault(one.path(idMember).asString(""), 0);
                    int b = order.getOrDefault(other.path(idMember).asString(""), 0);
                    return a != b ? Integer.compare(a, b)
                            : order.isEmpty()
                                    ? one.path(idMember).asString("").compareTo(other.path(idMember).asString(""))
                                    : 0;
                });
                run.forEach(ordered::add);
                at = end;
            }
        }
        return ordered;
    }

    private static boolean isResult(JsonNode item) {
        return RESULT_TYPES.contains(item.path("type").asString("")) || item.path("role").asString("").equals("tool");
    }

    private static void call(Map<String, Integer> calls, JsonNode item) {
        String type = item.path("type").asString("");
        if (!RESULT_TYPES.contains(type)
                && (item.has("call_id") || type.equals("function") || type.equals("tool_use"))) {
            calls.putIfAbsent(item.path(item.has("call_id") ? "call_id" : "id").asString(""), calls.size());
        }
    }
}
