package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.Trigger;
import io.keelson.server.base.db.SharedReads;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.tenant.secret.SecretStore;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * The triggers that requests are for. Requests that come together share their queries, and nothing is kept for later ones: a trigger or
 * secret that was changed before a request is seen by it.
 */
final class Hooks {

    private static final int TOGETHER = 256;

    private final TriggerStore triggers;
    private final SecretStore secrets;
    private final SharedReads<UUID, Optional<Hook>> hooks = new SharedReads<>(TOGETHER, this::read);
    private final SharedReads<UUID, List<Receiver>> receivers = new SharedReads<>(TOGETHER, this::ofEvents);

    Hooks(TriggerStore triggers, SecretStore secrets) {
        this.triggers = triggers;
        this.secrets = secrets;
    }

    /** An enabled trigger. */
    record Receiver(TriggerRow trigger, Trigger.Definition definition) {}

    /**
     * An enabled trigger that receives requests of its own.
     *
     * @param secrets values of its secrets that exist
     */
    record Hook(TriggerRow trigger, Trigger.Definition definition, List<String> secrets) {}

    /** Empty for a trigger that is unknown, disabled, or of another source. */
    Optional<Hook> find(UUID trigger) {
        return hooks.read(trigger);
    }

    /** Enabled triggers of a workspace for events of programs, by name. */
    List<Receiver> ofEvents(UUID workspace) {
        return receivers.read(workspace);
    }

    private List<Optional<Hook>> read(List<UUID> ids) {
        List<Receiver> found = Tenancy.<List<TriggerRow>, RuntimeException>allWorkspaces(
                () -> triggers.all(new HashSet<>(ids))).stream().filter(TriggerRow::enabled)
                .map(each -> new Receiver(each, each.read())).filter(each -> hasPath(each.definition())).toList();
        Set<SecretStore.Name> names = found.stream().flatMap(each -> each.definition().source().secrets().stream()
                .map(name -> new SecretStore.Name(each.trigger().workspaceId(), name))).collect(Collectors.toSet());
        Map<SecretStore.Name, String> values = Tenancy.<Map<SecretStore.Name, String>, RuntimeException>allWorkspaces(
                () -> secrets.present(names));
        Map<UUID, Hook> byId = new HashMap<>();
        for (Receiver each : found) {
            List<String> own = each.definition().source().secrets().stream()
                    .map(name -> values.get(new SecretStore.Name(each.trigger().workspaceId(), name)))
                    .filter(Objects::nonNull).toList();
            byId.put(each.trigger().id(), new Hook(each.trigger(), each.definition(), own));
        }
        return ids.stream().map(id -> Optional.ofNullable(byId.get(id))).toList();
    }

    private static boolean hasPath(Trigger.Definition definition) {
        return definition.source().event() == null && !TriggerRow.ofRuns(definition);
    }

    private List<List<Receiver>> ofEvents(List<UUID> workspaces) {
        Map<UUID, List<Receiver>> found = Tenancy.<List<TriggerRow>, RuntimeException>allWorkspaces(
                () -> triggers.ofEvents(new HashSet<>(workspaces))).stream()
                .map(each -> new Receiver(each, each.read()))
                .collect(Collectors.groupingBy(each -> each.trigger().workspaceId()));
        return workspaces.stream().map(each -> found.getOrDefault(each, List.of())).toList();
    }
}
