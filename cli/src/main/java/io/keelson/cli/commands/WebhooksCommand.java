package io.keelson.cli.commands;

import io.keelson.api.outlet.Webhook;
import io.keelson.api.outlet.WebhookDelivery;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.ListCommand;
import io.keelson.cli.common.ServerConnection.Work;
import io.keelson.cli.common.TimeArgument;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Keelson;
import io.keelson.client.WebhookRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
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
        footer = {"  keelson webhooks",
                "  keelson webhooks create https://example.com/hooks --event run.failed --event approval.needed",
                "  keelson webhooks deliveries 0198… --state dead", "  keelson webhooks redeliver 0198… --dead"})
public final class WebhooksCommand extends ListCommand<Webhook> {

    WebhooksCommand() {
        super("no webhooks", "ID", "URL", "STATE", "WAITING", "EVENTS");
    }

    @Override
    protected List<Webhook> items(Keelson keelson) {
        return keelson.webhooks().list();
    }

    @Override
    protected JsonNode document(Keelson keelson) {
        return keelson.api().get("/webhooks");
    }

    @Override
    protected List<String> row(Webhook each) {
        return List.of(each.id(), each.url(), state(each), String.valueOf(each.pending()),
                String.join(",", each.events()));
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
    static final class Create extends ChangeCommand {

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
        protected void run(Keelson keelson) {
            WebhookRequest request = WebhookRequest.to(url).channel(channel).description(description);
            if (!events.isEmpty()) {
                request.events(events);
            }
            Webhook made = keelson.webhooks().create(request);
            print(() -> secret(keelson, made), () -> List.of("webhook " + made.id(), "secret  " + made.secret(),
                    "Keep the secret: it is not shown again."));
        }
    }

    private static JsonNode secret(Keelson keelson, Webhook made) {
        return ((ObjectNode) keelson.api().get("/webhooks/" + made.id())).put("secret", made.secret());
    }

    /** An action on one webhook. */
    abstract static class Act extends ChangeCommand {

        @Parameters(index = "0", paramLabel = "ID", description = "Id that keelson webhooks lists.")
        String id = "";

        /** The webhook with {@code --json}, otherwise a line. */
        final void report(Keelson keelson, String line) {
            print(() -> keelson.api().get("/webhooks/" + id), () -> List.of(line));
        }
    }

    @Command(name = "show", description = "Shows a webhook, without its secret.")
    static final class Show extends Act {
        @Override
        protected Work work() {
            return Work.OF_RUNNING_SERVER;
        }

        @Override
        protected void run(Keelson keelson) {
            print(keelson.api().get("/webhooks/" + id));
        }
    }

    @Command(name = "enable", description = "Enables a webhook: sends pending deliveries and new events.")
    static final class Enable extends Act {
        @Override
        protected void run(Keelson keelson) {
            Webhook webhook = keelson.webhooks().change(id, WebhookRequest.change().enabled(true));
            report(keelson, "enabled; " + waiting(webhook));
        }
    }

    @Command(name = "disable", description = "Disables a webhook until it is enabled again.")
    static final class Disable extends Act {
        @Override
        protected void run(Keelson keelson) {
            keelson.webhooks().change(id, WebhookRequest.change().enabled(false));
            report(keelson, "disabled");
        }
    }

    @Command(name = "rotate", description = "Creates a new secret, shown once; the old one stays valid for a day.")
    static final class Rotate extends Act {
        @Override
        protected void run(Keelson keelson) {
            Webhook now = keelson.webhooks().rotate(id);
            print(() -> secret(keelson, now), () -> List.of("secret  " + now.secret(),
                    "The old one is valid until " + now.previousSecretUntil() + "."));
        }
    }

    @Command(name = "ping", description = "Queues a test delivery.")
    static final class Ping extends Act {
        @Override
        protected void run(Keelson keelson) {
            report(keelson, keelson.webhooks().ping(id));
        }
    }

    @Command(name = "deliveries", description = "Lists the deliveries of a webhook, newest first.")
    static final class Deliveries extends ListCommand<WebhookDelivery> {

        @Parameters(paramLabel = "ID", description = "Id that keelson webhooks lists.")
        String id = "";

        @Option(names = "--state", paramLabel = "STATE",
                description = "Show only deliveries in this state: pending, delivered or dead.")
        @Nullable String state;

        Deliveries() {
            super("none", "ID", "EVENT", "STATE", "TRIES", "LAST");
        }

        @Override
        protected List<WebhookDelivery> items(Keelson keelson) {
            return keelson.webhooks().deliveries(id, state, 50);
        }

        @Override
        protected JsonNode document(Keelson keelson) {
            return keelson.api()
                    .get("/webhooks/" + id + "/deliveries?limit=50" + (state == null ? "" : "&state=" + state));
        }

        @Override
        protected List<String> row(WebhookDelivery each) {
            return List.of(each.id(), each.type(), each.state(), String.valueOf(each.attempts()),
                    each.lastError() != null ? each.lastError() : Objects.toString(each.lastStatus(), ""));
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
        protected void run(Keelson keelson) {
            Webhook webhook = what.delivery != null ? keelson.webhooks().redeliver(id, what.delivery)
                    : what.from != null ? keelson.webhooks().replay(id, TimeArgument.of(what.from))
                            : keelson.webhooks().redeliverDead(id);
            report(keelson, waiting(webhook) + (webhook.replaying() ? ", more are being queued" : ""));
        }
    }

    @Command(name = "delete", description = "Deletes a webhook and its deliveries.")
    static final class Delete extends Act {
        @Override
        protected void run(Keelson keelson) {
            keelson.webhooks().delete(id);
            say(id + " is deleted");
        }
    }
}
