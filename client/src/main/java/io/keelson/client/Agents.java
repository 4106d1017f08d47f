package io.keelson.client;

import io.keelson.api.definition.Agent;
import io.keelson.api.run.Run;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The roster of a workspace, and runs of single agents. An agent is named by its slug or its id. Every method throws
 * {@link KeelsonException} as {@link Api} says.
 */
public final class Agents {

    private final Api api;

    Agents(Api api) {
        this.api = api;
    }

    /**
     * In order of their slugs.
     *
     * @param cursor where the page before ended; null for the first one
     * @param limit at most so many, up to 200
     */
    public Page<Agent> list(@Nullable String cursor, int limit) {
        return Page.of(api.get(RequestPath.of("/agents").with("cursor", cursor).with("limit", limit).toString()),
                Agent.class);
    }

    /** @throws KeelsonException {@code AGENT_NOT_FOUND} */
    public Agent get(String agent) {
        return Json.document(api.get(RequestPath.of("/agents/", agent).toString()), Agent.class);
    }

    /** @throws KeelsonException {@code AGENT_SLUG_TAKEN} when there is one with that slug */
    public Agent create(AgentRequest request) {
        return Json.document(api.post("/agents", request.body()), Agent.class);
    }

    /** Replaces an agent. Tasks already assigned keep the earlier definition. */
    public Agent update(String agent, AgentRequest request) {
        return Json.document(api.send(Call.put(RequestPath.of("/agents/", agent), request.body())).body(), Agent.class);
    }

    /** Deletes an agent; its tasks keep it. */
    public void delete(String agent) {
        api.send(Call.of("DELETE", RequestPath.of("/agents/", agent), null));
    }

    /**
     * Begins a run of one task that the agent does in turns.
     *
     * @param goal the task's goal
     * @param inputs values that the agent gets with each turn
     * @return the accepted run
     */
    public Run run(String agent, String goal, Map<String, ?> inputs) {
        var body = Json.object().put("agent_slug", agent).put("goal", goal);
        body.set("inputs", Json.of(inputs));
        return Json.document(api.post("/agents/run", body).get("run"), Run.class);
    }
}
