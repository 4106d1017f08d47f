package io.keelson.server.testing;

import io.keelson.server.base.json.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Decides which requests of workers break, by the tool of their step. Thread-safe. */
final class DispatchFaults {
    private static final Set<String> REPORTS = Set.of("complete", "continue", "fail");

    /** The part of an exchange that is lost. */
    enum Loss {
        NOTHING, REQUEST, ANSWER
    }

    private static final class Pending {
        private final NamedFault fault;
        private final @Nullable String tool;
        private int left;

        private Pending(NamedFault fault, @Nullable String tool, int left) {
            this.fault = fault;
            this.tool = tool;
            this.left = left;
        }
    }

    private final List<Pending> pending = new ArrayList<>();
    /** The tools of claimed steps, by step and epoch of the lease. */
    private final Map<String, String> tools = new HashMap<>();
    /** Leases whose worker has ended for the server. */
    private final Set<String> silent = new HashSet<>();

    synchronized void add(NamedFault fault, @Nullable String tool, int times) {
        pending.add(new Pending(fault, tool, times));
    }

    synchronized void clear() {
        pending.clear();
    }

    private boolean takes(NamedFault fault, String tool) {
        for (Iterator<Pending> each = pending.iterator(); each.hasNext();) {
            Pending one = each.next();
            if (one.fault == fault && (one.tool == null || one.tool.equals(tool))) {
                one.left--;
                if (one.left <= 0) {
                    each.remove();
                }
                return true;
            }
        }
        return false;
    }

    private boolean expects(NamedFault fault, String tool) {
        return pending.stream().anyMatch(one -> one.fault == fault && (one.tool == null || one.tool.equals(tool)));
    }

    private static String lease(JsonNode item) {
        return item.path("step_id").asString("") + "/" + item.path("lease_epoch").asInt(0);
    }

    /**
     * A request of a worker.
     *
     * @param action such as {@code claim}
     */
    synchronized Request request(String action, byte[] body) {
        if (!REPORTS.contains(action) && !action.equals("heartbeat")) {
            return new Request(action, body, List.of(), Loss.NOTHING);
        }
        JsonNode document = Json.read(body);
        List<JsonNode> dropped = new ArrayList<>();
        Loss loss = Loss.NOTHING;
        ArrayNode kept = Json.array();
        for (JsonNode item : document.path("items")) {
            String tool = tools.getOrDefault(lease(item), "");
            if (REPORTS.contains(action) && takes(NamedFault.CRASH_BEFORE_REPORT, tool)) {
                silent.add(lease(item));
            }
            // A heartbeat that arrived after a test has moved the clock would keep the lease.
            if (silent.contains(lease(item)) || expects(NamedFault.CRASH_BEFORE_REPORT, tool)) {
                dropped.add(item);
            } else {
                kept.add(item);
                if (REPORTS.contains(action) && takes(NamedFault.REPORT_LOST, tool)) {
                    loss = Loss.REQUEST;
                } else if (loss == Loss.NOTHING && REPORTS.contains(action)
                        && takes(NamedFault.REPORT_ANSWER_LOST, tool)) {
                    loss = Loss.ANSWER;
                }
            }
        }
        if (dropped.isEmpty()) {
            return new Request(action, body, dropped, loss);
        }
        ((ObjectNode) document).set("items", kept);
        return new Request(action, kept.isEmpty() ? null : Json.write(document), dropped, loss);
    }

    private synchronized JsonNode changeAnswer(Request request, @Nullable JsonNode answer) {
        ObjectNode changed = answer instanceof ObjectNode object ? object : Json.object();
        ArrayNode items = Json.array();
        for (JsonNode item : changed.path("items")) {
            if (request.action.equals("claim")) {
                if (claimed(item)) {
                    items.add(item);
                }
            } else {
                if (item.path("next").isObject() && !claimed(item.path("next"))) {
                    ((ObjectNode) item).remove("next");
                }
                items.add(item);
            }
        }
        if (changed.path("claimed").isArray()) {
            ArrayNode claimed = Json.array();
            changed.path("claimed").valueStream().filter(this::claimed).forEach(claimed::add);
            changed.set("claimed", claimed);
        }
        for (JsonNode item : request.dropped) {
            items.addObject().put("step_id", item.path("step_id").asString(""))
                    .put("lease_epoch", item.path("lease_epoch").asInt(0))
                    .put("status", request.action.equals("heartbeat") ? "ok" : "stale_lease");
        }
        if (changed.has("items") || !request.dropped.isEmpty()) {
            changed.set("items", items);
        }
        return changed;
    }

    /** False if the worker ends before it has the step. */
    private boolean claimed(JsonNode item) {
        String tool = item.path("tool").asString("");
        if (takes(NamedFault.CRASH_AFTER_CLAIM, tool)) {
            return false;
        }
        tools.put(lease(item), tool);
        item.path("following").forEach(next -> tools.put(lease(next), next.path("tool").asString("")));
        return true;
    }

    /** A request, and its effect on its answer. */
    final class Request {
        private final String action;
        private final byte @Nullable [] passed;
        private final List<JsonNode> dropped;
        private final Loss loss;

        private Request(String action, byte @Nullable [] passed, List<JsonNode> dropped, Loss loss) {
            this.action = action;
            this.passed = passed;
            this.dropped = dropped;
            this.loss = loss;
        }

        /** The part of the exchange that is lost with its connection. */
        Loss loss() {
            return loss;
        }

        /** The body for the server; null if the server does not get the request. */
        byte @Nullable [] forwarded() {
            return passed;
        }

        /**
         * The answer for the worker.
         *
         * @param answer of the server; null if it did not get the request
         */
        JsonNode answer(@Nullable JsonNode answer) {
            return changeAnswer(this, answer);
        }
    }
}
