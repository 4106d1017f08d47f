package io.keelson.cli;

import io.keelson.cli.view.Cells;
import io.keelson.cli.view.Table;
import io.keelson.client.AuditEntry;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "audit", description = "Shows what operators and administrators did, newest first. For operators.",
        footerHeading = "%nExamples:%n", footer = {"  keelson audit", "  keelson audit --workspace acme --limit 100",
                "  keelson audit --json | jq '.items[] | select(.action == \"key_created\")'"})
final class AuditCommand extends CliCommand {

    @Option(names = "--workspace", paramLabel = "WORKSPACE",
            description = "Only what was done to this one: id or name.")
    @Nullable String workspace;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "20",
            description = "At most so many; ${DEFAULT-VALUE} when not given.")
    int limit = 20;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (Link link = Link.open(settings(), Link.Work.NONE, this::news)) {
            Keelson keelson = link.keelson();
            Page<AuditEntry> page = keelson.audit(
                    WorkspacesCommand.idOrOwn(keelson, workspace), null, limit);
            if (json) {
                print(Json.object().set("items", Json.document(page.items())));
                return ExitCode.OK;
            }
            Table table = new Table("WHEN", "WHO", "FROM", "WHAT", "SUBJECT", "DETAIL");
            for (AuditEntry entry : page.items()) {
                table.row(String.valueOf(entry.createdAt()), Cells.clean(entry.actorId()),
                        Objects.requireNonNullElse(entry.fromAddress(), ""), entry.action(),
                        Objects.requireNonNullElse(entry.subject(), ""), Cells.clean(entry.detail().toString()));
            }
            print(table.lines(0, style()));
            if (page.nextCursor() != null) {
                note("there are more: --limit");
            }
            return ExitCode.OK;
        }
    }
}
