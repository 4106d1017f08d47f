package io.keelson.cli.admin;

import io.keelson.api.tenant.AuditEntry;
import io.keelson.api.tenant.Workspace;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

@Command(name = "audit",
        description = "Shows the audit log: actions of operators and administrators, newest first. For operators.",
        footer = {"  keelson audit", "  keelson audit --workspace acme --limit 100",
                "  keelson audit --json | jq '.items[] | select(.action == \"key_created\")'"})
public final class AuditCommand extends ClientCommand {

    /** Actions that say by null that there is no such limit or price any more. */
    private static final Set<String> TAKEN_AWAY = Set.of("workspace_changed", "prices_changed");

    private static final String NONE = "none";

    @Option(names = "--workspace", paramLabel = "WORKSPACE",
            description = "Show only entries about this workspace: id or name.")
    @Nullable String workspace;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "20",
            description = "At most N; ${DEFAULT-VALUE} when not given.")
    int limit = 20;

    @Override
    protected void run(Keelson keelson) {
        Page<AuditEntry> page = keelson.audit(WorkspaceIds.ofOrOwn(keelson, workspace), null, limit);
        if (json) {
            print(Json.object().set("items", Json.document(page.items())));
            return;
        }
        print(lines(page.items(), workspace != null ? null
                : keelson.workspaces().list().stream().collect(Collectors.toMap(Workspace::id, Workspace::name))));
        if (page.nextCursor() != null) {
            note("more results exist; raise --limit");
        }
    }

    /** Without workspaces for the entries of one workspace. */
    private List<String> lines(List<AuditEntry> entries, @Nullable Map<String, String> names) {
        Table table = names == null ? new Table("WHEN", "WHO", "FROM", "WHAT", "SUBJECT", "DETAIL")
                : new Table("WHEN", "WHO", "FROM", "WHAT", "WORKSPACE", "SUBJECT", "DETAIL");
        for (AuditEntry entry : entries) {
            List<String> cells = new ArrayList<>(List.of(when(entry), TerminalText.clean(entry.actorId()),
                    text(entry.fromAddress()), entry.action(), subject(entry), detail(entry)));
            if (names != null) {
                String id = text(entry.workspaceId());
                cells.add(4, TerminalText.clean(names.getOrDefault(id, id)));
            }
            table.row(cells.toArray(String[]::new));
        }
        return table.lines(style());
    }

    private static String when(AuditEntry entry) {
        return entry.createdAt() == null ? "" : entry.createdAt().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** Nothing where it is the workspace itself. */
    private static String subject(AuditEntry entry) {
        String subject = text(entry.subject());
        return subject.equals(entry.workspaceId()) ? "" : TerminalText.clean(subject);
    }

    /**
     * The detail as {@code name=value}, nested members as {@code name.name=value}; null as {@code none} if the action
     * cleared the value.
     */
    private static String detail(AuditEntry entry) {
        List<String> parts = new ArrayList<>();
        entry.detail().properties().forEach(member -> add(parts, member.getKey(), member.getValue()));
        if (!TAKEN_AWAY.contains(entry.action())) {
            parts.removeIf(part -> part.endsWith("=" + NONE));
        }
        return TerminalText.clean(String.join(" ", parts));
    }

    private static void add(List<String> parts, String name, JsonNode value) {
        if (value.isObject()) {
            value.properties().forEach(member -> add(parts, name + "." + member.getKey(), member.getValue()));
        } else if (value.isArray()) {
            parts.add(name + "=" + String.join(",", value.valueStream().map(each -> each.asString()).toList()));
        } else {
            String text = value.isNull() ? NONE : value.asString();
            parts.add(name + "=" + (text.contains(" ") ? "'" + text + "'" : text));
        }
    }

    private static String text(@Nullable String text) {
        return Objects.requireNonNullElse(text, "");
    }
}
