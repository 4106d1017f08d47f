package io.keelson.cli;

import io.keelson.cli.view.Cells;
import io.keelson.cli.view.Table;
import io.keelson.client.Commands;
import io.keelson.client.Json;
import io.keelson.client.Page;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(name = "deployments", description = "Lists deployments, newest first, as the provider says that they are now.",
        subcommands = {DeploymentsCommand.Show.class, DeploymentsCommand.Stop.class}, footerHeading = "%nExamples:%n",
        footer = {"  keelson deployments", "  keelson deployments show 0192f0c1-7f6e-7000-8000-000000000000",
                "  keelson deployments stop 0192f0c1-7f6e-7000-8000-000000000000"})
final class DeploymentsCommand extends CliCommand {

    @Option(names = "--limit", paramLabel = "N", defaultValue = "20",
            description = "At most so many; ${DEFAULT-VALUE} when not given.")
    int limit = 20;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (Link link = Link.open(settings(), Link.Work.NONE, this::news)) {
            Page<JsonNode> page = link.keelson().commands().deployments(null, limit);
            if (json) {
                print(Json.object().put("next_cursor", page.nextCursor()).set("items", Json.document(page.items())));
                return ExitCode.OK;
            }
            print(page.items().isEmpty() ? List.of("no deployments") : table(page.items()));
            if (page.nextCursor() != null) {
                note("there are more: --limit");
            }
            return ExitCode.OK;
        }
    }

    private List<String> table(List<JsonNode> deployments) {
        Table table = new Table("DEPLOYMENT", "STRATEGY", "MODE", "CAPITAL", "STATUS", "CREATED");
        deployments.forEach(each -> table.row(text(each, "id"), text(each, "strategy"), text(each, "mode"),
                text(each, "capital"), text(each, "status"), text(each, "created_at")));
        return table.lines(0, style());
    }

    /** The text of a member; empty where it has none. */
    private static String text(JsonNode document, String member) {
        return Cells.clean(document.path(member).asString(""));
    }

    /** What is done with one of them. */
    private abstract static class One extends CliCommand {

        @Parameters(index = "0", paramLabel = "DEPLOYMENT", description = "Its id.")
        String id = "";

        abstract JsonNode act(Commands commands);

        @Override
        public final Integer call() throws InvalidSettingsException, StartupException {
            try (Link link = Link.open(settings(), Link.Work.NONE, this::news)) {
                JsonNode answer = act(link.keelson().commands());
                if (json) {
                    print(answer);
                } else {
                    print(answer.properties().stream().filter(member -> !member.getValue().isNull())
                            .map(member -> member.getKey() + ": " + Cells.clean(member.getValue().isString()
                                    ? member.getValue().stringValue()
                                    : member.getValue().toString()))
                            .toList());
                }
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "show", description = "Shows a deployment: what was asked for, and what the provider says of it.")
    static final class Show extends One {
        @Override
        JsonNode act(Commands commands) {
            return commands.deployment(id);
        }
    }

    @Command(name = "stop", description = "Stops a deployment. Asked again, nothing more is done.")
    static final class Stop extends One {
        @Override
        JsonNode act(Commands commands) {
            return commands.stopDeployment(id);
        }
    }
}
