package io.keelson.server.tenant.workspace;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.keelson.core.plan.Autonomy;
import io.keelson.core.plan.ToolPolicy;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Rules of workspaces for missions, at most five seconds old. Thread-safe. */
public final class WorkspaceRules {
    private static final Duration OLDEST = Duration.ofSeconds(5);
    private static final int MAX = 10_000;

    private final LoadingCache<UUID, WorkspaceStore.Rules> rules;

    public WorkspaceRules(WorkspaceStore workspaces) {
        rules = Caffeine.newBuilder().expireAfterWrite(OLDEST).maximumSize(MAX).executor(Runnable::run)
                .build(workspaces::rules);
    }

    /** The workspace's rule about tools. */
    public ToolPolicy.Rule tools(UUID workspace) {
        WorkspaceStore.Tools tools = rules.get(workspace).tools();
        return new ToolPolicy.Rule(ToolPolicy.Level.WORKSPACE, tools.allowed(), tools.denied());
    }

    /** The autonomy level of missions that name none; null for the product's. */
    public @Nullable Autonomy autonomy(UUID workspace) {
        return rules.get(workspace).autonomy();
    }
}
