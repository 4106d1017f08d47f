package io.keelson.cli.commands;

import io.keelson.api.outlet.Webhook;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ListCommand;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.WebhookRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(name = "mine",
        description = "Lists receivers of messages for you: mailboxes that you have added in the dashboard, and receivers that name you as recipient.",
        subcommands = {OwnNotificationsCommand.Change.class, OwnNotificationsCommand.Delete.class},
        footer = {"  keelson notifications mine",
                "  keelson notifications mine change 0198… --quiet 22:00-07:00 --event approval.needed",
                "  keelson notifications mine change 0198… --no-on"})
final class OwnNotificationsCommand extends ListCommand<Webhook> {

    OwnNotificationsCommand() {
        super("no receivers of messages for you", NotificationsCommand.HEADINGS);
    }

    @Override
    protected List<Webhook> items(Keelson keelson) {
        return keelson.webhooks().own();
    }

    @Override
    protected JsonNode document(Keelson keelson) {
        return keelson.api().get("/notifications");
    }

    @Override
    protected List<String> row(Webhook each) {
        return NotificationsCommand.columns(each);
    }

    @Command(name = "change", description = "Changes the given settings of a receiver of yours.")
    static final class Change extends ChangeCommand {

        @Parameters(paramLabel = "ID", description = "Id that keelson notifications mine lists.")
        String id = "";

        @Option(names = "--on", negatable = true, description = "Whether messages are sent.")
        @Nullable Boolean on;

        @Mixin
        NotificationsCommand.ReceiverOptions options = new NotificationsCommand.ReceiverOptions();

        @Override
        protected void prepare() {
            if (options.recipient != null) {
                throw CliException.usage("USAGE", "--recipient is for administrators: keelson notifications change");
            }
        }

        @Override
        protected void run(Keelson keelson) {
            WebhookRequest request = WebhookRequest.change();
            options.apply(request);
            if (on != null) {
                request.enabled(on);
            }
            keelson.webhooks().changeOwn(id, request);
            NotificationsCommand.noteZone(this, options);
            print(() -> keelson.api().get("/notifications/" + id), () -> List.of("changed"));
        }
    }

    @Command(name = "delete", description = "Deletes a mailbox that you have added.")
    static final class Delete extends ChangeCommand {

        @Parameters(paramLabel = "ID", description = "Id that keelson notifications mine lists.")
        String id = "";

        @Override
        protected void run(Keelson keelson) {
            keelson.webhooks().deleteOwn(id);
            print(() -> Json.object().put("deleted", id), () -> List.of("deleted"));
        }
    }
}
