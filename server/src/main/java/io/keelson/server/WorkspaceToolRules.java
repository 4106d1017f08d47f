package io.keelson.server;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.keelson.core.plan.ToolPolicy;
import io.keelson.server.workspace.WorkspaceStore;
import java.time.Duration;
import java.util.UUID;

/** Rules of workspaces about tools, at most five seconds old. Thread-safe. */
final class WorkspaceToolRules {
    private static final Duration OLDEST = Duration.ofSeconds(5);
    private static final int MAX = 10_000;

    private final LoadingCache<UUID, ToolPolicy.Rule> rules;

    WorkspaceToolRules(WorkspaceStore workspaces) {
        rules = Caffeine.newBuilder().expireAfterWrite(OLDEST).maximumSize(MAX).executor(Runnable::run)
                .build(id -> {
                    WorkspaceStore.Tools tools = workspaces.tools(id);
                    return new ToolPolicy.Rule(ToolPolicy.Level.WORKSPACE, tools.allowed(), tools.denied());
                });
    }

    ToolPolicy.Rule rule(UUID workspace) {
        return rules.get(workspace);
    }
}
