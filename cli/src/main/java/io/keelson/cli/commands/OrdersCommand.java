package io.keelson.cli.commands;

import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.PageCommand;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(name = "orders", description = "Lists orders with their state at the provider, newest first.",
        subcommands = {OrdersCommand.Show.class, OrdersCommand.Cancel.class},
        footer = {"  keelson orders", "  keelson orders show 0192f0c1-7f6e-7000-8000-000000000000",
                "  keelson orders cancel 0192f0c1-7f6e-7000-8000-000000000000"})
public final class OrdersCommand extends PageCommand<JsonNode> {

    OrdersCommand() {
        super("no orders", "ORDER", "SYMBOL", "SIDE", "TYPE", "QUANTITY", "LIMIT", "STATUS", "CREATED");
    }

    @Override
    protected Page<JsonNode> page(Keelson keelson) {
        return keelson.commands().orders(null, limit);
    }

    @Override
    protected List<String> row(JsonNode order) {
        return TerminalText.texts(order, "id", "symbol", "side", "type", "quantity", "limit_price", "status",
                "created_at");
    }

    @Command(name = "show", description = "Shows an order with its state at the provider.")
    static final class Show extends ClientCommand {

        @Parameters(paramLabel = "ORDER", description = "Id of the order.")
        String id = "";

        @Override
        protected void run(Keelson keelson) {
            show(keelson.commands().order(id), TerminalText::members);
        }
    }

    @Command(name = "cancel", description = "Cancels an open order. Repeating the command has no effect.")
    static final class Cancel extends ChangeCommand {

        @Parameters(paramLabel = "ORDER", description = "Id of the order.")
        String id = "";

        @Override
        protected void run(Keelson keelson) {
            show(keelson.commands().cancelOrder(id), TerminalText::members);
        }
    }
}
