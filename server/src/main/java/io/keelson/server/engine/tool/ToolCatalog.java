package io.keelson.server.engine.tool;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import io.keelson.server.base.json.JsonSize;
import io.keelson.server.base.json.LargeDocuments;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.base.json.SchemaErrors;
import io.keelson.server.base.json.Schemas;
import io.keelson.server.base.json.TimedText;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The tools of this server by name. Schemas are compiled once; safe for use by many threads. */
public final class ToolCatalog {

    /** The bound of one output, as JSON text: 1 Mi characters. */
    public static final int MAX_OUTPUT_CHARS = 1 << 20;

    /**
     * A part of an input that does not fit the tool's schema.
     *
     * @param pointer JSON pointer into the input, empty for the whole
     */
    public record Problem(String pointer, String message) {}

    private record Entry(Tool tool, Schema input, Schema output) {}

    /** No tools. */
    public static final ToolCatalog EMPTY = new ToolCatalog(List.of());

    private final Map<String, Entry> entries = new TreeMap<>();
    private final WorkspaceTools ofWorkspaces;
    private final @Nullable UUID workspace;

    /** Patterns of foreign tools are RE2, so that they cannot hang a thread. */
    public ToolCatalog(Collection<? extends Tool> tools) {
        ofWorkspaces = WorkspaceTools.NONE;
        workspace = null;
        SchemaRegistry own = Schemas.trusted();
        SchemaRegistry foreign = Schemas.registry();
        for (Tool tool : tools) {
            SchemaRegistry schemas = tool.spec().name().startsWith(ToolSpec.MCP) ? foreign : own;
            Entry entry = new Entry(tool, schemas.getSchema(tool.spec().inputSchema()),
                    schemas.getSchema(tool.spec().outputSchema()));
            if (entries.put(tool.spec().name(), entry) != null) {
                throw new IllegalArgumentException("two tools are called " + tool.spec().name());
            }
        }
    }

    private ToolCatalog(Map<String, Entry> known, WorkspaceTools ofWorkspaces, @Nullable UUID workspace) {
        entries.putAll(known);
        this.ofWorkspaces = ofWorkspaces;
        this.workspace = workspace;
    }

    /**
     * A catalogue that adds the workspaces' own tools.
     *
     * @param more the tools of a workspace, with names that this catalogue does not contain
     */
    public ToolCatalog withWorkspaces(WorkspaceTools more) {
        return new ToolCatalog(entries, more, null);
    }

    /** The tools that workspaces have besides these. */
    public WorkspaceTools ofWorkspaces() {
        return ofWorkspaces;
    }

    /** All tools that a workspace has. */
    public ToolCatalog in(UUID workspace) {
        ToolCatalog whole = new ToolCatalog(entries, ofWorkspaces, workspace);
        whole.entries.putAll(ofWorkspaces.of(workspace).entries);
        return whole;
    }

    /**
     * Why calls of a tool of that name fail in the workspace of this catalogue, with the command that changes it.
     *
     * @return null where they do not, where there is no such tool, and for a catalogue of no workspace
     */
    public @Nullable String unusable(String name) {
        return workspace == null ? null : ofWorkspaces.unusable(workspace, name);
    }

    /** The tool of that name in a workspace. */
    public Optional<Tool> find(UUID workspace, String name) {
        return Optional.ofNullable(entry(workspace, name)).map(Entry::tool);
    }

    private @Nullable Entry entry(UUID workspace, String name) {
        Entry entry = entries.get(name);
        return entry == null ? ofWorkspaces.of(workspace).entries.get(name) : entry;
    }

    /**
     * A catalogue with further tools.
     *
     * @throws IllegalArgumentException if it already contains one of them
     */
    public ToolCatalog with(Collection<? extends Tool> more) {
        ToolCatalog whole = new ToolCatalog(entries, ofWorkspaces, workspace);
        new ToolCatalog(more).entries.forEach((name, entry) -> {
            if (whole.entries.put(name, entry) != null) {
                throw new IllegalArgumentException("two tools are called " + name);
            }
        });
        return whole;
    }

    public Optional<Tool> find(String name) {
        return Optional.ofNullable(entries.get(name)).map(Entry::tool);
    }

    /** All tools, by name. */
    public List<Tool> all() {
        return entries.values().stream().map(Entry::tool).toList();
    }

    /** Violations of the schema by a resolved input, by pointer; empty if it can be executed. */
    public List<Problem> validateInput(Tool tool, JsonNode input) {
        return problems(entry(tool).input(), input);
    }

    /** Violations of the schema of a tool of this server by a call's input, with pointers; empty if absent. */
    public String inputProblems(String tool, JsonNode input) {
        return text(problems(Objects.requireNonNull(entries.get(tool), tool).input, input));
    }

    private static String text(List<Problem> problems) {
        return problems.stream().map(each -> each.pointer() + ": " + each.message()).limit(10)
                .collect(Collectors.joining("; "));
    }

    /** Violations of the schema by an output; results of workers are checked with it. */
    public List<Problem> validateOutput(Tool tool, JsonNode output) {
        return problems(entry(tool).output(), output);
    }

    private Entry entry(Tool tool) {
        Entry entry = entries.get(tool.spec().name());
        if (entry == null) {
            throw new IllegalArgumentException("not a tool of this catalogue: " + tool.spec().name());
        }
        return entry;
    }

    private static List<Problem> problems(Schema schema, JsonNode value) {
        try {
            return SchemaErrors.flaws(schema.validate(value)).stream()
                    .map(flaw -> new Problem(flaw.pointer(), flaw.message()))
                    .sorted(Comparator.comparing(Problem::pointer).thenComparing(Problem::message))
                    .toList();
        } catch (TimedText.StoppedException e) {
            return List.of(new Problem("", String.valueOf(e.getMessage())));
        }
    }

    /** Validates a template of an input; ignores problems at values with expressions. */
    public List<Problem> validateTemplate(Tool tool, JsonNode template) {
        return validateInput(tool, template).stream()
                .filter(problem -> !hasExpression(template.at(problem.pointer())))
                .toList();
    }

    private static boolean hasExpression(JsonNode node) {
        return node.isString() && node.stringValue().contains("${");
    }

    /**
     * Executes a tool of the call's workspace with its input checked before, and its output made storable and bounded after.
     *
     * @throws ToolFailure the tool's own, or {@code TOOL_UNKNOWN}, {@code TOOL_INPUT_INVALID},
     *     {@code OUTPUT_TOO_LARGE}, {@code OUTPUT_INVALID} for an output of too many levels
     * @throws HandBackException the tool's own
     */
    public ToolResult execute(String name, ToolCall call) throws ToolFailure, InterruptedException {
        Entry entry = entry(call.workspaceId(), name);
        if (entry == null) {
            String why = ofWorkspaces.unusable(call.workspaceId(), name);
            throw (why == null ? ToolFailure.permanent("TOOL_UNKNOWN", "there is no tool " + name)
                    : ToolFailure.permanent("MCP_TOOL_NOT_ALLOWED", name + ": " + why)).spending(ToolUsage.NOT_MADE);
        }
        String problems = text(problems(entry.input, call.input()));
        if (!problems.isEmpty()) {
            throw ToolFailure.permanent("TOOL_INPUT_INVALID", problems).spending(ToolUsage.NOT_MADE);
        }
        ToolResult result = attempt(entry.tool, call);
        return LargeDocuments.work(result.output(), () -> checked(name, result));
    }

    private static ToolResult checked(String name, ToolResult result) throws ToolFailure {
        if (JsonSize.chars(result.output(), MAX_OUTPUT_CHARS) > MAX_OUTPUT_CHARS) {
            throw ToolFailure.permanent("OUTPUT_TOO_LARGE", "the output of " + name + " is longer than "
                    + MAX_OUTPUT_CHARS + " characters; narrow the call or write an artifact").spending(result.usage());
        }
        if (JsonSize.isTooDeep(result.output())) {
            throw ToolFailure.permanent("OUTPUT_INVALID", "the output of " + name + " has more than "
                    + JsonSize.MAX_DEPTH + " nested objects and arrays").spending(result.usage());
        }
        return new ToolResult(SafeText.clean(result.output()), result.usage(), result.artifacts(), result.proposals());
    }

    private static ToolResult attempt(Tool tool, ToolCall call) throws ToolFailure, InterruptedException {
        try {
            return tool.execute(call);
        } catch (ToolFailure e) {
            throw e.saying(SafeText.clean(String.valueOf(e.getMessage())));
        }
    }
}
