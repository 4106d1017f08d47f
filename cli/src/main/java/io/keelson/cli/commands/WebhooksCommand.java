package io.keelson.cli.commands;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.TimeArgument;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Table;
import io.keelson.client.Keelson;
import io.keelson.client.Webhook;
import io.keelson.client.WebhookDelivery;
import io.keelson.client.WebhookRequest;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.StartupException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "webhooks",
        description = "Lists webhooks, which receive the workspace's events while a server runs.",
        subcommands = {WebhooksCommand.Create.class, WebhooksCommand.Show.class, WebhooksCommand.Enable.class,
                WebhooksCommand.Disable.class, WebhooksCommand.Rotate.class, WebhooksCommand.Ping.class,
                WebhooksCommand.Deliveries.class, WebhooksCommand.Redeliver.class, WebhooksCommand.Delete.class},
        footerHeading = "%nExamples:%n", footer = {"  keelson webhooks",
                "  keelson webhooks create https://example.com/hooks --event run.failed --event approval.needed",
                "  keelson webhooks deliveries 0198… --state dead", "  keelson webhooks redeliver 0198… --dead"})
public final class WebhooksCommand extends CliCommand {

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            if (json) {
                print(server.keelson().api().get("/webhooks"));
            } else {
                List<Webhook> webhooks = server.keelson().webhooks().list();
                print(webhooks.isEmpty() ? List.of("no webhooks") : table(webhooks));
            }
            return ExitCode.OK;
        }
    }

    private List<String> table(List<Webhook> webhooks) {
        Table table = new Table("ID", "URL", "STATE", "WAITING", "EVENTS");
        webhooks.forEach(each -> table.row(each.id(), each.url(), state(each), String.valueOf(each.pending()),
                String.join(",", each.events())));
        return table.lines(style());
    }

    private static String state(Webhook webhook) {
        if (webhook.enabled()) {
            return webhook.failingSince() == null ? "on" : "failing";
        }
        return "gone".equals(webhook.disabledReason()) ? "gone"
                : "failing".equals(webhook.disabledReason()) ? "given up" : "off";
    }

    private static String waiting(Webhook webhook) {
        return AmountText.count(webhook.pending(), "delivery waits", "deliveries wait");
    }

    @Command(name = "create", description = "Creates a webhook for events from now on. Its secret is shown once.")
    static final class Create extends CliCommand {

        @Parameters(paramLabel = "URL", description = "The URL that receives the events.")
        String url = "";

        @Option(names = "--event", paramLabel = "NAME",
                description = "A topic such as run.failed, the type of an event such as step_failed, or '*' for all;"
                        + " repeatable. All topics when left out.")
        List<String> events = new ArrayList<>();

        @Option(names = "--channel", paramLabel = "NAME",
                description = "Deliver only events of runs that name this channel in config.notifications.channel.")
        @Nullable String channel;

        @Option(names = "--description", paramLabel = "TEXT", description = "Description shown to people.")
        @Nullable String description;

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            WebhookRequest request = WebhookRequest.to(url).channel(channel).description(description);
            if (!events.isEmpty()) {
                request.events(events);
            }
            try (ServerConnection server = link(true)) {
                Webhook made = server.keelson().webhooks().create(request);
                if (json) {
                    print(secret(server.keelson(), made));
                } else {
                    print(List.of("webhook " + made.id(), "secret  " + made.secret(),
                            "Keep the secret: it is not shown again."));
                }
                return ExitCode.OK;
            }
        }
    }

    private static JsonNode secret(Keelson keelson, Webhook made) {
        return ((ObjectNode) keelson.api().get("/webhooks/" + made.id())).put("secret", made.secret());
    }

    /** An action on one webhook. */
    abstract static class Act extends CliCommand {

        @Parameters(index = "0", paramLabel = "ID", description = "Id that keelson webhooks lists.")
        String id = "";

        /** Whether it changes something, and does not only read. */
        boolean changes() {
            return true;
        }

        /** Answers what is said in a terminal. */
        abstract List<String> act(Keelson keelson);

        /** The document that is printed with --json, after the act; null for nothing. */
        @Nullable JsonNode document(Keelson keelson) {
            return keelson.api().get("/webhooks/" + id);
        }

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link(changes())) {
                List<String> said = act(server.keelson());
                JsonNode document = json ? document(server.keelson()) : null;
                if (!json) {
                    print(said);
                } else if (document != null) {
                    print(document);
                }
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "show", description = "Shows a webhook, without its secret.")
    static final class Show extends Act {
        @Override
        boolean changes() {
            return false;
        }

        @Override
        List<String> act(Keelson keelson) {
            return keelson.api().get("/webhooks/" + id).toPrettyString().lines().toList();
        }
    }

    @Command(name = "enable", description = "Enables a webhook: sends pending deliveries and new events.")
    static final class Enable extends Act {
        @Override
        List<String> act(Keelson keelson) {
            Webhook webhook = keelson.webhooks().change(id, WebhookRequest.change().enabled(true));
            return List.of("enabled; " + waiting(webhook));
        }
    }

    @Command(name = "disable", description = "Disables a webhook until it is enabled again.")
    static final class Disable extends Act {
        @Override
        List<String> act(Keelson keelson) {
            keelson.webhooks().change(id, WebhookRequest.change().enabled(false));
            return List.of("disabled");
        }
    }

    @Command(name = "rotate", description = "Creates a new secret, shown once; the old one stays valid for a day.")
    static final class Rotate extends Act {

        private @Nullable Webhook rotated;

        @Override
        List<String> act(Keelson keelson) {
            Webhook now = keelson.webhooks().rotate(id);
            rotated = now;
            return List.of("secret  " + now.secret(), "The old one is valid until " + now.previousSecretUntil() + ".");
        }

        @Override
        @Nullable JsonNode document(Keelson keelson) {
            return rotated == null ? null : secret(keelson, rotated);
        }
    }

    @Command(name = "ping", description = "Queues a test delivery.")
    static final class Ping extends Act {
        @Override
        List<String> act(Keelson keelson) {
            return List.of(keelson.webhooks().ping(id));
        }
    }

    @Command(name = "deliveries", description = "Lists the deliveries of a webhook, newest first.")
    static final class Deliveries extends Act {

        @Option(names = "--state", paramLabel = "STATE",
                description = "Show only deliveries in this state: pending, delivered or dead.")
        @Nullable String state;

        @Override
        boolean changes() {
            return false;
        }

        @Override
        List<String> act(Keelson keelson) {
            Table table = new Table("ID", "EVENT", "STATE", "TRIES", "LAST");
            List<WebhookDelivery> found = keelson.webhooks().deliveries(id, state, 50);
            found.forEach(each -> table.row(each.id(), each.type(), each.state(), String.valueOf(each.attempts()),
                    each.lastError() != null ? each.lastError()
                            : each.lastStatus() == null ? "" : String.valueOf(each.lastStatus())));
            return found.isEmpty() ? List.of("none") : table.lines(style());
        }

        @Override
        JsonNode document(Keelson keelson) {
            return keelson.api()
                    .get("/webhooks/" + id + "/deliveries?limit=50" + (state == null ? "" : "&state=" + state));
        }
    }

    @Command(name = "redeliver", description = "Sends deliveries again, with the same ids.")
    static final class Redeliver extends Act {

        /** Just one of them. */
        static final class What {
            @Option(names = "--delivery", paramLabel = "ID", required = true, description = "One delivery.")
            @Nullable String delivery;

            @Option(names = "--dead", required = true, description = "Deliver all dead deliveries again.")
            boolean dead;

            @Option(names = "--from", paramLabel = "TIME", required = true,
                    description = "Deliver all events since then, including those from before the webhook was created or while it was disabled.")
            @Nullable String from;
        }

        @ArgGroup(multiplicity = "1")
        What what = new What();

        @Override
        List<String> act(Keelson keelson) {
            Webhook webhook = what.delivery != null ? keelson.webhooks().redeliver(id, what.delivery)
                    : what.from != null ? keelson.webhooks().replay(id, TimeArgument.of(what.from))
                            : keelson.webhooks().redeliverDead(id);
            return List.of(waiting(webhook) + (webhook.replaying() ? ", more are being queued" : ""));
        }
    }

    @Command(name = "delete", description = "Deletes a webhook and its deliveries.")
    static final class Delete extends Act {
        @Override
        List<String> act(Keelson keelson) {
            keelson.webhooks().delete(id);
            return List.of(id + " is deleted");
        }

        @Override
        @Nullable JsonNode document(Keelson keelson) {
            return null;
        }
    }
}
