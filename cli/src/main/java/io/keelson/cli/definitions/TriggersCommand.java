package io.keelson.cli.definitions;

import io.keelson.api.trigger.Trigger;
import io.keelson.api.trigger.TriggerDelivery;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.DocumentFile;
import io.keelson.cli.common.ListCommand;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.TimeArgument;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "triggers", description = "Lists triggers, which start runs when events arrive.",
        subcommands = {TriggersCommand.Create.class, TriggersCommand.Send.class, TriggersCommand.Show.class,
                TriggersCommand.Test.class,
                TriggersCommand.Deliveries.class, TriggersCommand.Replay.class, TriggersCommand.On.class,
                TriggersCommand.Off.class, TriggersCommand.Delete.class},
        footer = {"  keelson triggers", "  keelson triggers create issues.yaml",
                "  keelson triggers test issues event.json",
                "  keelson triggers send order.paid --id 17 --data '{\"total\": 9}'",
                "  keelson triggers deliveries issues --state refused",
                "  keelson triggers replay issues --state refused"})
public final class TriggersCommand extends ListCommand<Trigger> {

    private static final String UUID = "([a-z]+_)?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
    private static final String INVALID = "INVALID_TRIGGER";

    TriggersCommand() {
        super("no triggers", "NAME", "SOURCE", "STATE", "PATH");
    }

    @Override
    protected List<Trigger> items(Keelson keelson) {
        return keelson.triggers().list();
    }

    @Override
    protected JsonNode document(Keelson keelson) {
        return keelson.api().get("/triggers");
    }

    @Override
    protected List<String> row(Trigger each) {
        return List.of(each.name(), each.source().kind(), each.enabled() ? "on" : "off",
                Objects.requireNonNullElse(each.path(), ""));
    }

    /** The id of a trigger that is named by its name or id. */
    private static String id(Keelson keelson, String nameOrId) {
        return nameOrId.matches(UUID) ? nameOrId
                : keelson.triggers().byName(nameOrId).map(Trigger::id)
                        .orElseThrow(() -> CliException.failed("TRIGGER_NOT_FOUND", "no trigger '" + nameOrId + "'"));
    }

    @Command(name = "create",
            description = "Creates a trigger from a file in YAML or JSON, or changes the trigger with its name.")
    static final class Create extends ChangeCommand {

        @Parameters(paramLabel = "FILE", description = "The definition; - for standard input.")
        String file = "";

        @Override
        protected void run(Keelson keelson) {
            ObjectNode definition = DocumentFile.read(file, "trigger", INVALID).document();
            Trigger trigger = keelson.triggers().byName(definition.path("name").asString(""))
                    .map(there -> keelson.triggers().change(there.id(), whole(definition)))
                    .orElseGet(() -> keelson.triggers().create(definition));
            print(() -> keelson.api().get("/triggers/" + trigger.id()),
                    () -> List.of(trigger.name() + (trigger.path() == null ? " receives ends of runs"
                            : " receives events at " + keelson.url() + trigger.path())));
        }

        /** The file is the whole definition, and a change keeps absent members: those without a value are removed. */
        private static ObjectNode whole(ObjectNode definition) {
            ObjectNode whole = definition.deepCopy();
            for (String each : List.of("key", "filter", "priority")) {
                if (!whole.has(each)) {
                    whole.putNull(each);
                }
            }
            for (String each : List.of("inputs", "flow")) {
                if (!whole.has(each)) {
                    whole.putObject(each);
                }
            }
            return whole;
        }
    }

    /** A command about one trigger. */
    abstract static class One extends ClientCommand {

        @Parameters(index = "0", paramLabel = "NAME", description = "Name or id of the trigger.")
        String name = "";

        abstract void run(Keelson keelson, String id);

        @Override
        protected final void run(Keelson keelson) {
            run(keelson, id(keelson, name));
        }
    }

    /** A change of one trigger. */
    abstract static class Change extends ChangeCommand {

        @Parameters(index = "0", paramLabel = "NAME", description = "Name or id of the trigger.")
        String name = "";

        abstract void run(Keelson keelson, String id);

        @Override
        protected final void run(Keelson keelson) {
            run(keelson, id(keelson, name));
        }

        /** The trigger with {@code --json}, otherwise a line. */
        final void report(Keelson keelson, String id, String line) {
            print(() -> keelson.api().get("/triggers/" + id), () -> List.of(line));
        }
    }

    @Command(name = "show", description = "Shows a trigger, or one of its deliveries with headers and body.")
    static final class Show extends One {

        @Option(names = "--delivery", paramLabel = "ID",
                description = "A delivery that keelson triggers deliveries lists.")
        @Nullable String delivery;

        @Override
        void run(Keelson keelson, String id) {
            print(keelson.api().get("/triggers/" + id + (delivery == null ? "" : "/deliveries/" + delivery)));
        }
    }

    @Command(name = "test", description = "Evaluates a trigger with an event from a file. Starts no run.")
    static final class Test extends One {

        @Parameters(index = "1", paramLabel = "FILE", description = "The event: a document with headers and body.")
        String file = "";

        @Override
        void run(Keelson keelson, String id) {
            Trigger.Tested tested =
                    keelson.triggers().test(id, DocumentFile.read(file, "event", "INVALID_EVENT").document());
            show(tested, Test::lines);
        }

        private static List<String> lines(Trigger.Tested tested) {
            List<String> lines = new ArrayList<>();
            if (tested.key() != null) {
                lines.add("key     " + tested.key());
            }
            lines.add("outcome " + (tested.errorCode() == null ? "starts a run"
                    : tested.errorCode() + ": " + tested.errorMessage()));
            if (tested.inputs() != null) {
                lines.add("inputs  " + tested.inputs());
            }
            return lines;
        }
    }

    @Command(name = "send", description = "Sends an event to the triggers whose source names it.")
    static final class Send extends ChangeCommand {

        @Parameters(paramLabel = "EVENT", description = "Name of the event.")
        String event = "";

        @Option(names = "--id", paramLabel = "ID", required = true,
                description = "Identity of the event: the same id starts no second run.")
        String id = "";

        @Option(names = "--data", paramLabel = "JSON", description = "Data of the event; an empty object if absent.")
        @Nullable String data;

        private @Nullable JsonNode given;

        @Override
        protected void prepare() {
            if (data != null) {
                try {
                    given = io.keelson.server.base.json.Json.read(data);
                } catch (JacksonException e) {
                    throw CliException.usage("MALFORMED_JSON", "--data is not JSON: " + e.getOriginalMessage());
                }
            }
        }

        @Override
        protected void run(Keelson keelson) {
            List<TriggerDelivery.Receipt> receipts = keelson.triggers().send(event, id, given);
            ObjectNode answer = Json.object();
            ArrayNode items = answer.putArray("items");
            receipts.forEach(each -> items.add(Json.document(each)));
            show(answer,
                    any -> receipts.isEmpty() ? List.of("no trigger receives " + event) : lines(keelson, receipts));
        }

        private static List<String> lines(Keelson keelson, List<TriggerDelivery.Receipt> receipts) {
            Map<String, String> names = names(keelson);
            return receipts.stream()
                    .map(each -> names.getOrDefault(each.triggerId(), each.triggerId()) + " " + each.id()
                            + " " + (each.duplicate() ? "was received before: " : "") + each.state())
                    .toList();
        }
    }

    /** Names of triggers by their ids; none for a key that sends events and reads nothing. */
    private static Map<String, String> names(Keelson keelson) {
        try {
            return keelson.triggers().list().stream().collect(Collectors.toMap(Trigger::id, Trigger::name));
        } catch (KeelsonException e) {
            return Map.of();
        }
    }

    @Command(name = "deliveries", description = "Lists the events of a trigger and their outcomes, latest first.")
    static final class Deliveries extends ListCommand<TriggerDelivery> {

        private static final int MAX_LISTED = 50;

        @Parameters(paramLabel = "NAME", description = "Name or id of the trigger.")
        String name = "";

        @Option(names = "--state", paramLabel = "STATE",
                description = "Show only deliveries in this state: pending, started, signalled, merged, dropped, refused or dead.")
        @Nullable String state;

        Deliveries() {
            super("none yet", "ID", "RECEIVED", "KEY", "STATE", "RUN OR ERROR");
        }

        @Override
        protected List<TriggerDelivery> items(Keelson keelson) {
            return keelson.triggers().deliveries(id(keelson, name), state, MAX_LISTED);
        }

        @Override
        protected JsonNode document(Keelson keelson) {
            return keelson.api().get("/triggers/" + id(keelson, name) + "/deliveries?limit=" + MAX_LISTED
                    + (state == null ? "" : "&state=" + state));
        }

        @Override
        protected List<String> row(TriggerDelivery each) {
            return List.of(each.id(), each.receivedAt().toString(), each.key(), each.state(), outcome(each));
        }

        private static String outcome(TriggerDelivery each) {
            if (each.errorCode() == null) {
                return Objects.requireNonNullElse(each.runId(), "");
            }
            return each.errorCode() + (each.dueAt() != null ? " until " + each.dueAt().truncatedTo(ChronoUnit.SECONDS)
                    : each.errorMessage() == null ? "" : ": " + each.errorMessage());
        }
    }

    @Command(name = "replay", description = "Decides deliveries again, by the trigger as it is now.")
    static final class Replay extends Change {

        @Option(names = "--delivery", paramLabel = "ID", description = "Replay only this delivery.")
        @Nullable String delivery;

        @Option(names = "--state", paramLabel = "STATE", description = "Replay only deliveries in this state.")
        @Nullable String state;

        @Option(names = "--since", paramLabel = "TIME",
                description = "Replay only deliveries that were received since then.")
        @Nullable String since;

        @Option(names = "--until", paramLabel = "TIME",
                description = "Replay only deliveries that were received before.")
        @Nullable String until;

        @Option(names = "--all", description = "Replay all deliveries that are decided.")
        boolean all;

        @Override
        void run(Keelson keelson, String id) {
            ObjectNode which = Json.object();
            if (delivery != null) {
                which.put("delivery_id", delivery);
            }
            if (state != null) {
                which.put("state", state);
            }
            if (since != null) {
                which.put("since", TimeArgument.of(since).toString());
            }
            if (until != null) {
                which.put("until", TimeArgument.of(until).toString());
            }
            if (which.isEmpty() != all) {
                throw CliException.usage("OPTION_REQUIRED", "either --all or a selection is required");
            }
            TriggerDelivery.Replayed replayed = keelson.triggers().replay(id, which);
            show(replayed, each -> List.of(AmountText.count(each.count(), "delivery", "deliveries")
                    + (each.more() ? ", and further ones follow" : "") + "; the outcomes: " + ProgramName.current()
                    + " triggers deliveries " + name));
        }
    }

    @Command(name = "on", description = "Enables a trigger: it receives events.")
    static final class On extends Change {
        @Override
        void run(Keelson keelson, String id) {
            report(keelson, id, keelson.triggers().enable(id, true).name() + " is on");
        }
    }

    @Command(name = "off", description = "Disables a trigger: it receives no events and starts no runs.")
    static final class Off extends Change {
        @Override
        void run(Keelson keelson, String id) {
            report(keelson, id, keelson.triggers().enable(id, false).name() + " is off");
        }
    }

    @Command(name = "delete", description = "Deletes a trigger with its deliveries; its runs stay.")
    static final class Delete extends Change {
        @Override
        void run(Keelson keelson, String id) {
            keelson.triggers().delete(id);
            say(name + " is deleted");
        }
    }
}
