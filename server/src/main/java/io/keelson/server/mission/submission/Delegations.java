package io.keelson.server.mission.submission;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.RosterAgent;
import io.keelson.core.policy.CallApprovals;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.ScopeReader.Caller;
import io.keelson.server.engine.store.read.ScopeReader.Starter;
import io.keelson.server.engine.tool.ApprovalRules;
import io.keelson.server.mission.plan.ReadResult;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The missions by which agents delegate: one task of another agent of the roster, which may call no tool that the agent that
 * delegates may not call, and none without a person that the other has to ask about.
 */
final class Delegations {
    /** Maximum delegations that follow on each other. */
    private static final int MAX_DEPTH = 2;
    /** Maximum agents that a problem names. */
    private static final int MAX_NAMED = 20;
    private static final String TASK = "work";

    private final Function<UUID, List<RosterAgent>> roster;

    /** @param roster the agents of a workspace */
    Delegations(Function<UUID, List<RosterAgent>> roster) {
        this.roster = roster;
    }

    /** The mission's document, or why there is none, with pointers into the call's input. */
    ReadResult<ObjectNode> mission(Starter starter, Caller caller, JsonNode call) {
        if (caller.delegations() >= MAX_DEPTH) {
            return invalid("DELEGATION_LIMIT", "",
                    "this task was delegated " + MAX_DEPTH + " times, and cannot be delegated further");
        }
        String named = call.path("agent").asString();
        List<RosterAgent> agents = roster.apply(starter.workspaceId());
        Optional<RosterAgent> agent = agents.stream().filter(each -> each.slug().equals(named)).findFirst()
                .or(() -> agents.stream().filter(each -> each.name().equals(named)).findFirst());
        return agent.isEmpty() ? invalid("UNKNOWN_REFERENCE", "/agent", "the roster has no agent '"
                + Excerpt.piece(named) + "', but " + agents.stream().map(RosterAgent::slug).limit(MAX_NAMED)
                        .collect(Collectors.joining(", ")))
                : new ReadResult.Ok<>(mission(starter, caller, agent.get(), call));
    }

    private static ReadResult<ObjectNode> invalid(String code, String pointer, String message) {
        return new ReadResult.Invalid<>(List.of(new PlanProblem(code, pointer, message)));
    }

    private static ObjectNode mission(Starter starter, Caller caller, RosterAgent agent, JsonNode call) {
        ObjectNode mission = Json.object().put("goal", call.path("task").asString()).put("agent_slug", agent.slug())
                .put("trigger", AgentTerms.DELEGATE).put("priority", starter.priority())
                .put("output", "${ .tasks." + TASK + ".output }");
        ObjectNode declared = mission.putObject("inputs");
        ObjectNode values = mission.putObject("input");
        call.path("inputs").properties().forEach(each -> {
            declared.putObject(each.getKey());
            values.set(each.getKey(), each.getValue());
        });
        ObjectNode task = mission.putObject("plan").putArray("tasks").addObject().put("id", TASK);
        task.putObject("suggested_agent").put("type", AgentTerms.ROSTER).put("agent_name", agent.slug());
        List<String> tools = tools(caller, agent);
        task.set("tools_needed", Json.strings(tools));
        task.put("untrusted_input", caller.untrusted());
        CallApprovals rules = caller.terms() == null ? CallApprovals.NONE : caller.terms().approvals();
        task.putObject("limits").set("approvals", ApprovalRules.write(
                new CallApprovals(tools.stream().collect(Collectors.toMap(Function.identity(), rules::of)))));
        return mission;
    }

    /** The tools that both have. The last that may be delegated to delegates no further. */
    private static List<String> tools(Caller caller, RosterAgent agent) {
        AgentTerms terms = caller.terms();
        Set<String> own = terms == null ? Set.of() : Set.copyOf(terms.tools());
        return agent.tools().stream().filter(own::contains)
                .filter(tool -> !tool.equals(AgentTerms.DELEGATE) || caller.delegations() + 1 < MAX_DEPTH).toList();
    }

    /** The result with pointers into the input of the call. */
    static ReadResult<PreparedMission> ofCall(ReadResult<PreparedMission> read) {
        return read instanceof ReadResult.Invalid<PreparedMission>(List<PlanProblem> problems)
                ? new ReadResult.Invalid<>(problems.stream().map(Delegations::ofCall).toList())
                : read;
    }

    private static PlanProblem ofCall(PlanProblem problem) {
        String pointer = problem.pointer();
        String own = pointer.startsWith("/input/") ? "/inputs" + pointer.substring("/input".length())
                : pointer.startsWith("/inputs") ? pointer : pointer.startsWith("/goal") ? "/task" : "/agent";
        return new PlanProblem(problem.code(), own, problem.message());
    }
}
