package io.keelson.api.tenant;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Absent;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A workspace.
 *
 * @param id id of the resource
 * @param name name, unique among open workspaces
 * @param state state of the workspace
 * @param createdAt time of its creation
 * @param closedAt time of its closing; null while it is open
 * @param purgedRows rows removed so far of a workspace that is being deleted
 * @param limits its limits
 * @param allowedFolders absolute paths of folders that its tools may use on each server; null for the folders of the server's
 *     settings
 * @param allowedModels names of models that its plans and agents may use; null for all
 * @param allowedTools names and groups ({@code files.*}) of tools that its plans and agents may use; null for all
 * @param deniedTools names and groups of tools that are refused although they are allowed
 * @param defaultAutonomy autonomy level of missions without a level; null for the product's default
 * @param use its use of the limits; absent in lists and in answers to changes
 */
public record Workspace(@Id String id, String name, @OneOf({
        "open", "closed", "deleting", "deleted"}) String state,
        Instant createdAt, @Nullable Instant closedAt, long purgedRows, WorkspaceLimits limits,
        @Nullable List<String> allowedFolders, @Nullable List<String> allowedModels,
        @Nullable List<String> allowedTools, List<String> deniedTools,
        @Nullable @OneOf({"approve", "autonomous", "full_auto"}) String defaultAutonomy,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable WorkspaceUse use) {

    public Workspace {
        allowedFolders = allowedFolders == null ? null : List.copyOf(allowedFolders);
        allowedModels = allowedModels == null ? null : List.copyOf(allowedModels);
        allowedTools = allowedTools == null ? null : List.copyOf(allowedTools);
        deniedTools = Absent.asEmpty(deniedTools);
    }

    /**
     * Creates or changes a workspace. Members that are absent stay unchanged.
     *
     * @param name unique name of the workspace. A new workspace requires it
     * @param limits limits to change
     * @param allowedFolders absolute paths of folders that its file tools and processes may use on each server, instead of the
     *     folders of {@code KEELSON_ALLOWED_FOLDERS}; if empty no folder, if null the folders of the setting. Places that tools
     *     never read stay refused
     * @param allowedModels names of models that its plans and agents may use, whether the server or workers call them; if empty
     *     no model, if null all models
     * @param allowedTools tools that its plans and agents may use: names, groups such as {@code files.*} for all tools whose
     *     names begin with {@code files.}, or {@code *}; if empty no tool, if null all tools
     * @param deniedTools names and groups of tools that are refused although they are allowed
     * @param defaultAutonomy autonomy level of runs whose missions and recipes have none. Null: a given plan counts as approved,
     *     and a person approves a plan that a planner or a template makes
     */
    @Request
    public record Change(@Nullable @Text(format = "name", pattern = "\\S", max = 255) String name,
            WorkspaceLimits.@Nullable Change limits,
            @Nullable Optional<@Size(max = 100) List<@Text(pattern = "\\S", max = 4096) String>> allowedFolders,
            @Nullable Optional<@Size(max = 1000) List<@Text(pattern = "\\S", max = 200) String>> allowedModels,
            @Nullable Optional<@Size(max = 1000) List<@Text(pattern = "\\S", max = 200) String>> allowedTools,
            @Nullable @Size(max = 1000) List<@Text(pattern = "\\S", max = 200) String> deniedTools,
            @Nullable Optional<@OneOf({"approve", "autonomous", "full_auto"}) String> defaultAutonomy) {}
}
