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

@Command(name = "orders", description = "Lists orders, newest first, as the provider says that they are now.",
        subcommands = {OrdersCommand.Show.class, OrdersCommand.Cancel.class}, footerHeading = "%nExamples:%n",
        footer = {"  keelson orders", "  keelson orders show 0192f0c1-7f6e-7000-8000-000000000000",
                "  keelson orders cancel 0192f0c1-7f6e-7000-8000-000000000000"})
final class OrdersCommand extends CliCommand {

    @Option(names = "--limit", paramLabel = "N", defaultValue = "20",
            description = "At most so many; ${DEFAULT-VALUE} when not given.")
    int limit = 20;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (Link link = Link.open(settings(), Link.Work.NONE, this::news)) {
            Page<JsonNode> page = link.keelson().commands().orders(null, limit);
            if (json) {
                print(Json.object().put("next_cursor", page.nextCursor()).set("items", Json.document(page.items())));
                return ExitCode.OK;
            }
            print(page.items().isEmpty() ? List.of("no orders") : table(page.items()));
            if (page.nextCursor() != null) {
                note("there are more: --limit");
            }
            return ExitCode.OK;
        }
    }

    private List<String> table(List<JsonNode> orders) {
        Table table = new Table("ORDER", "SYMBOL", "SIDE", "TYPE", "QUANTITY", "LIMIT", "STATUS", "CREATED");
        orders.forEach(each -> table.row(text(each, "id"), text(each, "symbol"), text(each, "side"), text(each, "type"),
                text(each, "quantity"), text(each, "limit_price"), text(each, "status"), text(each, "created_at")));
        return table.lines(0, style());
    }

    /** The text of a member; empty where it has none. */
    private static String text(JsonNode document, String member) {
        return Cells.clean(document.path(member).asString(""));
    }

    /** What is done with one of them. */
    private abstract static class One extends CliCommand {

        @Parameters(index = "0", paramLabel = "ORDER", description = "Its id.")
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

    @Command(name = "show", description = "Shows an order: what was asked for, and what the provider says of it.")
    static final class Show extends One {
        @Override
        JsonNode act(Commands commands) {
            return commands.order(id);
        }
    }

    @Command(name = "cancel", description = "Cancels an open order. Asked again, nothing more is done.")
    static final class Cancel extends One {
        @Override
        JsonNode act(Commands commands) {
            return commands.cancelOrder(id);
        }
    }
}
