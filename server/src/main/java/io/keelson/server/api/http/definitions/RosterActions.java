package io.keelson.server.api.http.definitions;

import io.keelson.api.definition.Agent;
import io.keelson.api.definition.AgentDefinition;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.RunsOn;
import io.keelson.core.policy.CallApprovals;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ETag;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.KeyedTransaction;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.ApprovalRules;
import io.keelson.server.engine.tool.WorkspaceTools;
import io.keelson.server.mission.roster.Roster;
import io.keelson.server.mission.roster.RosterEntry;
import io.keelson.server.tenant.auth.Scope;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/** The agents of a workspace: what each may do is for its administrators to say. */
public final class RosterActions {
    private static final Pattern SLUG = Pattern.compile("(?=.*[a-z])[a-z0-9][a-z0-9-]{0,99}");

    private final Roster roster;
    private final WorkspaceStore workspaces;
    private final WorkspaceTools tools;
    private final KeyedTransaction transaction;

    /** @param tools of MCP servers: an agent with a tool that no call reaches is stored with a warning */
    public RosterActions(Roster roster, WorkspaceStore workspaces, WorkspaceTools tools, KeyedTransaction transaction) {
        this.tools = tools;
        this.roster = roster;
        this.workspaces = workspaces;
        this.transaction = transaction;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/agents", this::list);
        table.post(Scope.ADMIN, "/agents", AgentDefinition.class, this::create);
        table.get(Scope.RUNS_READ, "/agents/{agent}", this::one);
        table.put(Scope.ADMIN, "/agents/{agent}", AgentDefinition.class, this::update);
        table.delete(Scope.ADMIN, "/agents/{agent}", this::delete);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        ListCursor cursor = new ListCursor("agents");
        String after = Objects.requireNonNullElse(cursor.read(query, text -> text), "");
        int limit = query.limit();
        Page<RosterEntry> found = roster.list(request.workspace(), after, limit);
        return ApiResponse
                .ok(Lists.page(found, cursor, RosterEntry::slug, agent -> document(request.workspace(), agent)));
    }

    private ApiResponse one(ApiRequest request) {
        String name = name(request);
        return answer(request.workspace(), roster.find(request.workspace(), name).orElseThrow(() -> notFound(name)));
    }

    private ApiResponse create(ApiRequest request, AgentDefinition body) {
        String slug = Objects.requireNonNull(body.slug());
        RosterEntry.Profile profile = profile(request.workspace(), slug, body);
        return transaction.answer(request, c -> {
            if (roster.full(c, request.workspace())) {
                throw ApiProblem.of(ErrorCode.AGENTS_LIMIT_REACHED,
                        "a workspace has at most " + Roster.MAX_AGENTS + " agents");
            }
            RosterEntry made =
                    roster.create(c, request.workspace(), slug, profile, String.valueOf(request.actor().id()),
                            request.origin()).orElseThrow(
                                    () -> ApiProblem.of(ErrorCode.AGENT_SLUG_TAKEN,
                                            "the workspace has an agent '" + slug + "'").with("pointer", "/slug"));
            return ApiResponse.created("/api/v1/agents/" + slug, document(request.workspace(), made));
        });
    }

    /** Replaces the agent's definition; its slug stays. */
    private ApiResponse update(ApiRequest request, AgentDefinition body) {
        String name = name(request);
        RosterEntry.Profile profile = profile(request.workspace(), name, body);
        RosterEntry before = roster.find(request.workspace(), name).orElseThrow(() -> notFound(name));
        if (body.slug() != null && !body.slug().equals(before.slug())) {
            throw ApiProblem.of("INVALID_VALUE", "/slug", "a slug cannot be changed; create another agent");
        }
        return answer(request.workspace(), roster.update(request.workspace(), name, profile, request.origin(),
                current -> request.requireVersion(version(current), document(request.workspace(), current)))
                .orElseThrow(() -> notFound(name)));
    }

    private ApiResponse answer(UUID workspace, RosterEntry agent) {
        return ApiResponse.resource(document(workspace, agent), version(agent));
    }

    private static String version(RosterEntry agent) {
        return ETag.version(agent.updatedAt());
    }

    private ApiResponse delete(ApiRequest request) {
        String name = name(request);
        if (!roster.delete(request.workspace(), name, request.origin())) {
            throw notFound(name);
        }
        return ApiResponse.empty(204);
    }

    private boolean allows(UUID workspace, String model) {
        return workspaces.models(workspace).map(names -> names.contains(model)).orElse(true);
    }

    private RosterEntry.Profile profile(UUID workspace, String slug, AgentDefinition body) {
        Set<String> tools = new HashSet<>();
        List<PlanProblem> problems = new ArrayList<>();
        for (int i = 0; i < body.tools().size(); i++) {
            String tool = body.tools().get(i);
            if (AgentTerms.NEVER.contains(tool)) {
                problems.add(new PlanProblem("INVALID_VALUE", "/tools/" + i,
                        "agents cannot call the tool '" + Excerpt.piece(tool) + "'"));
            } else if (!tools.add(tool)) {
                problems.add(new PlanProblem("DUPLICATE_NAME", "/tools/" + i, "the list has this tool twice"));
            }
        }
        if (body.model() != null && !allows(workspace, body.model())) {
            problems.add(new PlanProblem("MODEL_NOT_ALLOWED", "/model", "the workspace may not use the model '"
                    + Excerpt.piece(body.model()) + "': an operator sets its models with `keelson workspaces models`"));
        }
        if (body.limits() != null) {
            ApprovalRules.flaws(rules(body.limits())).forEach(flaw -> problems.add(
                    new PlanProblem(flaw.code(), "/limits/approvals" + flaw.pointer(), flaw.message())));
        }
        if (!problems.isEmpty()) {
            throw ApiProblem.of(problems);
        }
        return new RosterEntry.Profile(body.name() == null || body.name().isBlank() ? slug : body.name(),
                body.description(),
                body.model(), body.instructions(), body.tools(), body.capabilities(),
                body.limits() == null ? null : body.limits().maxTurns(),
                body.runsOn() == null ? null : RunsOn.of(body.runsOn()),
                body.limits() == null ? CallApprovals.NONE : ApprovalRules.read(rules(body.limits())));
    }

    private static String name(ApiRequest request) {
        String name = request.pathText("agent");
        if (!SLUG.matcher(name).matches() && !name.matches("\\d{1,9}")) {
            throw notFound(Excerpt.piece(name));
        }
        return name;
    }

    private static ApiProblem notFound(String name) {
        return ApiProblem.of(ErrorCode.AGENT_NOT_FOUND, "no agent " + name);
    }

    private ObjectNode document(UUID workspace, RosterEntry agent) {
        List<String> warnings = agent.tools().stream().flatMap(tool -> {
            String why = tools.unusable(workspace, tool);
            return Stream.ofNullable(why == null ? null : tool + ": " + why);
        }).toList();
        RunsOn runsOn = agent.runsOn();
        return Json.document(new Agent(agent.id(), agent.slug(), agent.name(), agent.description(), agent.model(),
                agent.instructions(), agent.tools(), agent.capabilities(),
                new Agent.Limits(agent.maxTurns(), ApprovalRules.members(agent.approvals())),
                runsOn == null ? null : runsOn.wire(), agent.createdBy(), agent.createdAt(), agent.updatedAt(),
                warnings));
    }

    private static ObjectNode rules(AgentDefinition.Limits limits) {
        return Json.object().setAll(limits.approvals());
    }
}
