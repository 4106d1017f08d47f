package io.keelson.server.engine.tool;

import io.keelson.core.policy.CallApproval;
import io.keelson.core.policy.CallApprovals;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.base.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Rules about the approval of agents' calls in documents: by tool a rule or several, each a word or {@code {"when": jq}}. Their
 * shape is for the documents' schemas to check.
 */
public final class ApprovalRules {
    private static final String WHEN = "when";
    private static final List<CallApproval> WORDS =
            List.of(CallApproval.NEVER, CallApproval.EFFECTS, CallApproval.TAINTED, CallApproval.ALWAYS);
    /** Only checks syntax; nothing is evaluated. */
    private static final Expressions EXPRESSIONS = new Expressions();

    /**
     * A condition that is no jq expression.
     *
     * @param pointer into the document of the rules
     */
    public record Flaw(String pointer, String code, String message) {}

    private ApprovalRules() {}

    /** The rules in the document; none in anything but an object. */
    public static CallApprovals read(JsonNode document) {
        Map<String, List<CallApproval>> rules = new TreeMap<>();
        document.properties().forEach(each -> rules.put(each.getKey(), each.getValue().isArray()
                ? each.getValue().valueStream().flatMap(ApprovalRules::rule).toList()
                : rule(each.getValue()).toList()));
        return new CallApprovals(rules);
    }

    /** Empty for a value that the documents' schemas refuse. */
    private static Stream<CallApproval> rule(JsonNode document) {
        return document.path(WHEN).isString() ? Stream.of(CallApproval.when(document.path(WHEN).stringValue()))
                : WORDS.stream().filter(word -> word.kind().wire().equals(document.asString("")));
    }

    /** The document of the rules. */
    public static ObjectNode write(CallApprovals rules) {
        return Json.object().setAll(members(rules));
    }

    /** The members of the rules' document, by tool. */
    public static Map<String, JsonNode> members(CallApprovals rules) {
        Map<String, JsonNode> members = new TreeMap<>();
        rules.byTool().forEach((tool, all) -> {
            ArrayNode written = Json.array();
            all.forEach(rule -> written.add(rule(rule)));
            members.put(tool, written.size() == 1 ? written.get(0) : written);
        });
        return members;
    }

    private static JsonNode rule(CallApproval rule) {
        return rule.condition() == null ? Json.string(rule.kind().wire())
                : Json.object().put(WHEN, rule.condition());
    }

    /** The conditions that are no jq expressions. */
    public static List<Flaw> flaws(JsonNode document) {
        List<Flaw> flaws = new ArrayList<>();
        document.properties().forEach(each -> {
            String at = "/" + each.getKey().replace("~", "~0").replace("/", "~1");
            if (each.getValue().isArray()) {
                for (int i = 0; i < each.getValue().size(); i++) {
                    flaws(each.getValue().get(i), at + "/" + i).forEach(flaws::add);
                }
            } else {
                flaws(each.getValue(), at).forEach(flaws::add);
            }
        });
        return flaws;
    }

    private static Stream<Flaw> flaws(JsonNode rule, String at) {
        return !rule.path(WHEN).isString() ? Stream.empty()
                : EXPRESSIONS.checkProgram(rule.path(WHEN).stringValue()).stream()
                        .map(problem -> new Flaw(at + "/" + WHEN, problem.code(), problem.message()));
    }
}
