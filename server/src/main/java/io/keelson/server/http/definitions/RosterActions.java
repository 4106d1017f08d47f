package io.keelson.server.http.definitions;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.TaskType;
import io.keelson.server.auth.Scope;
import io.keelson.server.http.support.ApiProblem;
import io.keelson.server.http.support.ApiRequest;
import io.keelson.server.http.support.ApiResponse;
import io.keelson.server.http.support.ErrorCode;
import io.keelson.server.http.support.Fields;
import io.keelson.server.http.support.Json;
import io.keelson.server.http.support.KeyedTransaction;
import io.keelson.server.http.support.ListCursor;
import io.keelson.server.http.support.Lists;
import io.keelson.server.http.support.Query;
import io.keelson.server.http.support.Route;
import io.keelson.server.json.Excerpt;
import io.keelson.server.roster.Roster;
import io.keelson.server.roster.RosterEntry;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The agents of a workspace: what each may do is for its administrators to say. */
public final class RosterActions {
    private static final Pattern SLUG = Pattern.compile("(?=.*[a-z])[a-z0-9][a-z0-9-]{0,99}");
    private static final Pattern TOOL = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}");
    private static final List<String> CAPABILITIES = TaskType.ofPlans().stream().map(TaskType::wire).toList();
    private static final int MAX_NAME = 200;
    private static final int MAX_TEXT = 20_000;
    private static final int MOST_TOOLS = 200;
    private static final int MOST_TURNS = 1_000;

    private final Roster roster;
    private final KeyedTransaction transaction;

    public RosterActions(Roster roster, KeyedTransaction transaction) {
        this.roster = roster;
        this.transaction = transaction;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/agents", this::list);
        table.post(Scope.ADMIN, "/agents", this::create);
        table.get(Scope.RUNS_READ, "/agents/{agent}", this::one);
        table.put(Scope.ADMIN, "/agents/{agent}", this::update);
        table.delete(Scope.ADMIN, "/agents/{agent}", this::delete);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        ListCursor cursor = new ListCursor("agents");
        String after = Objects.requireNonNullElse(cursor.read(query, text -> text), "");
        int limit = query.limit();
        query.done();
        List<RosterEntry> found = roster.list(request.workspace(), after, limit + 1);
        return ApiResponse.ok(Lists.page(found.stream().limit(limit).map(RosterActions::document).toList(),
                found.size() <= limit ? null : cursor.write(found.get(limit - 1).slug())));
    }

    private ApiResponse one(ApiRequest request) {
        request.query().done();
        String name = name(request);
        return ApiResponse.resource(document(roster.find(request.workspace(), name).orElseThrow(() -> notFound(name))));
    }

    private ApiResponse create(ApiRequest request) throws IOException {
        request.query().done();
        Fields fields = request.fields();
        String slug = fields.text("slug", MAX_NAME);
        if (!slug.isEmpty() && !SLUG.matcher(slug).matches()) {
            fields.problem("INVALID_VALUE", "slug",
                    "1 to 100 small letters, digits and '-', with a letter among them");
        }
        RosterEntry.Profile profile = profile(fields, slug);
        fields.done();
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
            return ApiResponse.created("/api/v1/agents/" + slug, document(made));
        });
    }

    /** Replaces the agent's definition; its slug stays. */
    private ApiResponse update(ApiRequest request) throws IOException {
        request.query().done();
        String name = name(request);
        Fields fields = request.fields();
        RosterEntry.Profile profile = profile(fields, name);
        String slug = fields.optionalText("slug", MAX_NAME);
        fields.done();
        RosterEntry before = roster.find(request.workspace(), name).orElseThrow(() -> notFound(name));
        if (slug != null && !slug.equals(before.slug())) {
            fields.problem("INVALID_VALUE", "slug", "a slug cannot be changed; create another agent");
            fields.done();
        }
        return ApiResponse.ok(document(roster.update(request.workspace(), name, profile, request.origin())
                .orElseThrow(() -> notFound(name))));
    }

    private ApiResponse delete(ApiRequest request) throws IOException {
        request.query().done();
        request.fields().done();
        String name = name(request);
        if (!roster.delete(request.workspace(), name, request.origin())) {
            throw notFound(name);
        }
        return ApiResponse.empty(204);
    }

    private static RosterEntry.Profile profile(Fields fields, String slug) {
        String name = fields.optionalText("name", MAX_NAME);
        Set<String> tools = new HashSet<>();
        List<String> named = fields.optionalTexts("tools", MOST_TOOLS, MAX_NAME);
        for (int i = 0; i < named.size(); i++) {
            String tool = named.get(i);
            if (!TOOL.matcher(tool).matches() || AgentTerms.NEVER.contains(tool)) {
                fields.problem("INVALID_VALUE", "tools/" + i,
                        "agents cannot call the tool '" + Excerpt.piece(tool) + "'");
            } else if (!tools.add(tool)) {
                fields.problem("DUPLICATE_NAME", "tools/" + i, "the list has this tool twice");
            }
        }
        List<String> capabilities = fields.optionalTexts("capabilities", CAPABILITIES.size(), MAX_NAME);
        for (int i = 0; i < capabilities.size(); i++) {
            if (!CAPABILITIES.contains(capabilities.get(i))) {
                fields.problem("INVALID_VALUE", "capabilities/" + i,
                        "must be one of " + String.join(", ", CAPABILITIES));
            }
        }
        Fields limits = fields.object("limits");
        @Nullable Long turns = limits == null ? null : limits.optionalInteger("max_turns", 1, MOST_TURNS);
        return new RosterEntry.Profile(name == null || name.isBlank() ? slug : name,
                fields.optionalText("description", MAX_TEXT), fields.optionalText("model", MAX_NAME),
                fields.optionalText("instructions", MAX_TEXT), named, capabilities,
                turns == null ? null : turns.intValue());
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

    private static ObjectNode document(RosterEntry agent) {
        ObjectNode document = Json.object().put("id", agent.id()).put("slug", agent.slug()).put("name", agent.name())
                .put("description", agent.description()).put("model", agent.model())
                .put("instructions", agent.instructions());
        document.set("tools", Json.strings(agent.tools()));
        document.set("capabilities", Json.strings(agent.capabilities()));
        document.putObject("limits").put("max_turns", agent.maxTurns());
        return document.put("created_by", agent.createdBy()).put("created_at", Json.time(agent.createdAt()))
                .put("updated_at", Json.time(agent.updatedAt()));
    }
}
