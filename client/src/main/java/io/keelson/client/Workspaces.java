package io.keelson.client;

import io.keelson.api.money.Grant;
import io.keelson.api.money.LedgerEntry;
import io.keelson.api.tenant.LimitName;
import io.keelson.api.tenant.Workspace;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The workspaces of an installation; for keys with the scope {@code operator}. Limits are given by the whole names of {@link LimitName}:
 * {@code steps}, {@code tool:NAME}. Every method throws {@link KeelsonException} as {@link Api} says.
 */
public final class Workspaces {

    private final Api api;

    Workspaces(Api api) {
        this.api = api;
    }

    /** All of them, newest first. */
    public List<Workspace> list() {
        return Page.all(cursor -> Page.of(api.get(RequestPath.of("/workspaces").with("cursor", cursor).toString()),
                Workspace.class));
    }

    /** Reads a workspace. */
    public Workspace get(String id) {
        return Json.document(api.get(RequestPath.of("/workspaces/", id).toString()), Workspace.class);
    }

    /** Creates a workspace with these limits. */
    public Workspace create(String name, Map<String, ? extends Number> limits) {
        ObjectNode body = Json.object().put("name", name);
        body.set("limits", document(limits));
        return Json.document(api.send(Call.post("/workspaces", body)).body(), Workspace.class);
    }

    /**
     * Changes the limits that are named and no others.
     *
     * @param limits null for no limit any more
     */
    public Workspace limit(String id, Map<String, ? extends @Nullable Number> limits) {
        ObjectNode body = Json.object();
        body.set("limits", document(limits));
        return Json.document(api.send(Call.patch(RequestPath.of("/workspaces/", id), body)).body(), Workspace.class);
    }

    /**
     * Gives the workspace folders of its own instead of the folders of the server's settings.
     *
     * @param paths absolute on the server, empty for no folder at all; null to use the server's settings again
     */
    public Workspace folders(String id, @Nullable List<String> paths) {
        return allow(id, "allowed_folders", paths);
    }

    /**
     * Sets the models that the workspace's plans and agents may use.
     *
     * @param names as plans have them, empty for no model at all; null for all models
     */
    public Workspace models(String id, @Nullable List<String> names) {
        return allow(id, "allowed_models", names);
    }

    /**
     * Sets the tools that the workspace's plans and agents may use. A tool is given by its name, by its group ({@code
     * files.*}) or by {@code *}.
     *
     * @param allowed empty for no tool at all; null for all tools
     * @param denied refused though they are allowed
     */
    public Workspace tools(String id, @Nullable List<String> allowed, List<String> denied) {
        allow(id, "allowed_tools", allowed);
        return allow(id, "denied_tools", denied);
    }

    /**
     * Sets the autonomy level of the workspace's missions that name none.
     *
     * @param level {@code approve}, {@code autonomous} or {@code full_auto}; null for the product's
     */
    public Workspace autonomy(String id, @Nullable String level) {
        Call call = Call.patch(RequestPath.of("/workspaces/", id), Json.object().put("default_autonomy", level));
        return Json.document(api.send(call).body(), Workspace.class);
    }

    private Workspace allow(String id, String member, @Nullable List<String> texts) {
        ObjectNode body = Json.object();
        if (texts == null) {
            body.putNull(member);
        } else {
            texts.forEach(body.putArray(member)::add);
        }
        return Json.document(api.send(Call.patch(RequestPath.of("/workspaces/", id), body)).body(), Workspace.class);
    }

    /** Changes the name of a workspace. */
    public Workspace rename(String id, String name) {
        Call call = Call.patch(RequestPath.of("/workspaces/", id), Json.object().put("name", name));
        return Json.document(api.send(call).body(), Workspace.class);
    }

    /**
     * Gives a workspace credits.
     *
     * @param amount more than 0, at most 6 decimal places
     * @param key as of {@link Credits#grant(BigDecimal, String, String)}
     */
    public LedgerEntry grant(String id, BigDecimal amount, @Nullable String reason, String key) {
        Call call = Call.post(RequestPath.of("/workspaces/", id, "/credits/grants"),
                Json.request(new Grant(amount, reason))).header("Idempotency-Key", key).repeatable();
        return Json.document(api.send(call).body(), LedgerEntry.class);
    }

    /** Closes a workspace for good: disables its keys and cancels its runs. */
    public Workspace close(String id) {
        return Json
                .document(api.send(Call.post(RequestPath.of("/workspaces/", id, "/close"), Json.object()).repeatable())
                        .body(), Workspace.class);
    }

    /** Closes a workspace and deletes its data in the background; its ledger and the audit log stay. */
    public Workspace delete(String id) {
        return Json.document(api.send(Call.of("DELETE", RequestPath.of("/workspaces/", id), null).repeatable()).body(),
                Workspace.class);
    }

    private static ObjectNode document(Map<String, ? extends @Nullable Number> limits) {
        ObjectNode document = Json.object();
        limits.forEach((name, number) -> {
            BigDecimal most = number == null ? null : new BigDecimal(number.toString());
            int colon = name.indexOf(':');
            String member = colon < 0 ? null
                    : LimitName.find(name.substring(0, colon)).map(LimitName::members).orElse(null);
            if (member == null) {
                document.put(name, most);
            } else {
                document.withObjectProperty(member).put(name.substring(colon + 1), most);
            }
        });
        return document;
    }
}
