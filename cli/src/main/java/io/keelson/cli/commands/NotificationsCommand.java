package io.keelson.cli.commands;

import io.keelson.api.outlet.Webhook;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ListCommand;
import io.keelson.client.Keelson;
import io.keelson.client.WebhookRequest;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "notifications",
        description = "Lists receivers of messages for people: channels of Slack and Teams, and mailboxes. They are webhooks, which keelson "
                + "webhooks pings, disables and deletes.",
        subcommands = {NotificationsCommand.Add.class, NotificationsCommand.Change.class,
                OwnNotificationsCommand.class},
        footer = {"  keelson notifications",
                "  keelson notifications add mailto:alex@example.com --recipient alex --quiet 22:00-07:00 --time-zone Europe/Berlin",
                "  keelson notifications add https://hooks.slack.example/… --format slack --event approval.needed",
                "  keelson notifications change 0198… --digest 15",
                "  keelson notifications mine"})
public final class NotificationsCommand extends ListCommand<Webhook> {

    static final String[] HEADINGS =
            {"ID", "TO", "FORMAT", "RECIPIENT", "STATE", "QUIET", "DIGEST", "WAITING", "EVENTS"};

    NotificationsCommand() {
        super("no receivers of messages", HEADINGS);
    }

    @Override
    protected List<Webhook> items(Keelson keelson) {
        return keelson.webhooks().list().stream().filter(each -> !each.format().equals("standard")).toList();
    }

    @Override
    protected JsonNode document(Keelson keelson) {
        ObjectNode all = (ObjectNode) keelson.api().get("/webhooks");
        ObjectNode shown = all.deepCopy();
        ArrayNode items = shown.putArray("items");
        all.path("items").valueStream()
                .filter(each -> !each.path("format").asString("").equals("standard")).forEach(items::add);
        return shown;
    }

    @Override
    protected List<String> row(Webhook each) {
        return columns(each);
    }

    static List<String> columns(Webhook each) {
        return List.of(each.id(), each.url(), each.format(), Objects.toString(each.recipient(), ""), state(each),
                each.quietFrom() == null ? ""
                        : each.quietFrom() + "-" + each.quietUntil() + " " + each.timeZone(),
                each.digestMinutes() == 0 ? "" : each.digestMinutes() + " min", String.valueOf(each.pending()),
                String.join(",", each.events()));
    }

    private static String state(Webhook each) {
        return !each.enabled() ? "off" + (each.disabledReason() == null || each.disabledReason().equals("asked") ? ""
                : ": " + each.disabledReason())
                : each.failingSince() == null ? "sends" : "fails since " + each.failingSince();
    }

    /** Settings of a receiver. */
    static final class ReceiverOptions {

        @Option(names = "--event", paramLabel = "NAME",
                description = "A topic such as approval.needed, or the type of an event; repeatable. All topics when left out.")
        List<String> events = new ArrayList<>();

        @Option(names = "--recipient", paramLabel = "NAME",
                description = "Principal that answers questions by the links of the messages; '' removes it.")
        @Nullable String recipient;

        @Option(names = "--quiet", paramLabel = "FROM-UNTIL",
                description = "Hours in which messages wait, such as 22:00-07:00; '' removes them.")
        @Nullable String quiet;

        @Option(names = "--time-zone", paramLabel = "ZONE",
                description = "Time zone of --quiet; that of this machine when left out.")
        @Nullable String zone;

        @Option(names = "--digest", paramLabel = "MINUTES",
                description = "Gather the messages of so many minutes in one; 0 for a message each.")
        @Nullable Integer digest;

        @Option(names = "--description", paramLabel = "TEXT", description = "Description shown to people.")
        @Nullable String description;

        /** The time zone of the quiet hours, which the person has not named; null if there are none, or they have one. */
        @Nullable String assumedZone() {
            return quiet == null || quiet.isEmpty() || zone != null ? null : ZoneId.systemDefault().getId();
        }

        void apply(WebhookRequest request) {
            if (!events.isEmpty()) {
                request.events(events);
            }
            if (recipient != null) {
                request.recipient(recipient.isEmpty() ? null : recipient);
            }
            if (quiet != null && quiet.isEmpty()) {
                request.quietHours(null, null, null);
            } else if (quiet != null) {
                String[] hours = quiet.split("-", -1);
                if (hours.length != 2) {
                    throw CliException.usage("USAGE", "--quiet takes two times, such as 22:00-07:00");
                }
                request.quietHours(hours[0].strip(), hours[1].strip(),
                        Objects.requireNonNullElseGet(zone, () -> ZoneId.systemDefault().getId()));
            } else if (zone != null) {
                throw CliException.usage("USAGE", "--time-zone is that of --quiet");
            }
            if (digest != null) {
                request.digestMinutes(digest);
            }
            if (description != null) {
                request.description(description);
            }
        }
    }

    static void noteZone(ChangeCommand command, ReceiverOptions options) {
        String zone = options.assumedZone();
        if (zone != null) {
            command.note("The quiet hours are in the time zone " + zone
                    + " of this machine. --time-zone names another one.");
        }
    }

    @Command(name = "add", description = "Adds a receiver of messages about events from now on.")
    static final class Add extends ChangeCommand {

        @Parameters(paramLabel = "ADDRESS",
                description = "mailto: and a mail address, or the URL of an incoming webhook of Slack or of a workflow of Teams.")
        String address = "";

        @Option(names = "--format", paramLabel = "FORMAT",
                description = "slack, teams or mail; the default for mailto: is mail.")
        @Nullable String format;

        @Mixin
        ReceiverOptions options = new ReceiverOptions();

        @Override
        protected void prepare() {
            if (!address.contains("/") && address.contains("@") && !address.startsWith("mailto:")) {
                throw CliException.usage("USAGE", "a mailbox is written as mailto:" + address);
            }
            if (format == null && !address.startsWith("mailto:")) {
                throw CliException.usage("USAGE", "--format slack or --format teams is required for a URL");
            }
        }

        @Override
        protected void run(Keelson keelson) {
            WebhookRequest request = WebhookRequest.to(address);
            if (format != null) {
                request.format(format);
            }
            options.apply(request);
            Webhook made = keelson.webhooks().create(request);
            noteZone(this, options);
            print(() -> keelson.api().get("/webhooks/" + made.id()),
                    () -> List.of("notifications " + made.id(),
                            "Send a test with: keelson webhooks ping " + made.id()));
        }
    }

    @Command(name = "change", description = "Changes the given settings of a receiver.")
    static final class Change extends ChangeCommand {

        @Parameters(paramLabel = "ID", description = "Id that keelson notifications lists.")
        String id = "";

        @Mixin
        ReceiverOptions options = new ReceiverOptions();

        @Override
        protected void run(Keelson keelson) {
            WebhookRequest request = WebhookRequest.change();
            options.apply(request);
            keelson.webhooks().change(id, request);
            noteZone(this, options);
            print(() -> keelson.api().get("/webhooks/" + id), () -> List.of("changed"));
        }
    }
}
