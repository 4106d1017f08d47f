package io.keelson.server.tenant.workspace;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.keelson.core.plan.ToolPolicy;
import java.time.Duration;
import java.util.UUID;

/** Rules of workspaces about tools, at most five seconds old. Thread-safe. */
public final class WorkspaceToolRules {
    private static final Duration OLDEST = Duration.ofSeconds(5);
    private static final int MAX = 10_000;

    private final LoadingCache<UUID, ToolPolicy.Rule> rules;

    public WorkspaceToolRules(WorkspaceStore workspaces) {
        rules = Caffeine.newBuilder().expireAfterWrite(OLDEST).maximumSize(MAX).executor(Runnable::run)
                .build(id -> {
                    WorkspaceStore.Tools tools = workspaces.tools(id);
                    return new ToolPolicy.Rule(ToolPolicy.Level.WORKSPACE, tools.allowed(), tools.denied());
                });
    }

    public ToolPolicy.Rule rule(UUID workspace) {
        return rules.get(workspace);
    }
}
