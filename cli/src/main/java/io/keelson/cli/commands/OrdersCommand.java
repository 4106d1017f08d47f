package io.keelson.cli.commands;

import io.keelson.cli.common.ListCommand;
import io.keelson.cli.common.OneCommand;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(name = "orders", description = "Lists orders with their state at the provider, newest first.",
        subcommands = {OrdersCommand.Show.class, OrdersCommand.Cancel.class}, footerHeading = "%nExamples:%n",
        footer = {"  keelson orders", "  keelson orders show 0192f0c1-7f6e-7000-8000-000000000000",
                "  keelson orders cancel 0192f0c1-7f6e-7000-8000-000000000000"})
public final class OrdersCommand extends ListCommand<JsonNode> {

    OrdersCommand() {
        super("no orders");
    }

    @Override
    public Page<JsonNode> page(Keelson keelson) {
        return keelson.commands().orders(null, limit);
    }

    @Override
    public Table table(List<JsonNode> orders) {
        Table table = new Table("ORDER", "SYMBOL", "SIDE", "TYPE", "QUANTITY", "LIMIT", "STATUS", "CREATED");
        orders.forEach(each -> table.row(TerminalText.text(each, "id"), TerminalText.text(each, "symbol"),
                TerminalText.text(each, "side"), TerminalText.text(each, "type"), TerminalText.text(each, "quantity"),
                TerminalText.text(each, "limit_price"), TerminalText.text(each, "status"),
                TerminalText.text(each, "created_at")));
        return table;
    }

    /** Actions on one of them. */
    private abstract static class One extends OneCommand<JsonNode> {

        @Parameters(index = "0", paramLabel = "ORDER", description = "Id of the order.")
        String id = "";

        @Override
        public final List<String> lines(JsonNode order) {
            return members(order);
        }
    }

    @Command(name = "show", description = "Shows an order with its state at the provider.")
    static final class Show extends One {
        @Override
        public JsonNode act(Keelson keelson) {
            return keelson.commands().order(id);
        }
    }

    @Command(name = "cancel", description = "Cancels an open order. Repeating the command has no effect.")
    static final class Cancel extends One {
        @Override
        public boolean changes() {
            return true;
        }

        @Override
        public JsonNode act(Keelson keelson) {
            return keelson.commands().cancelOrder(id);
        }
    }
}
