package io.keelson.cli.runs;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.EventStream;
import io.keelson.client.Keelson;
import io.keelson.core.lifecycle.StreamTypes;
import io.keelson.server.mission.plan.NameSuggestion;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(name = "events", description = "Prints the events of a run or of the workspace.",
        footer = {"  keelson events latest",
                "  keelson events --follow --types run.status.changed",
                "  keelson events latest --json | jq -r .event_type"})
public final class EventsCommand extends ClientCommand {

    /** Members of payloads that are amounts, in the order in which they are printed. */
    private static final List<String> MONEY = List.of("amount", "cost", "charged", "uncollected", "warn_at",
            "allotment", "child_charged", "hard_limit", "soft_limit", "credits_reserved", "credits_charged",
            "credits_refunded");

    @Parameters(arity = "0..1", paramLabel = "RUN", description = "The run's id, or latest; all runs when not given.")
    @Nullable String run;

    @Option(names = "--follow",
            description = "Follow new events: of a run until it ends, of the workspace until interrupted and without earlier events.")
    boolean follow;

    @Option(names = "--archived", description = "Events of a run that were moved to files, as JSON lines.")
    boolean archived;

    @Option(names = "--types", paramLabel = "TYPE", split = ",",
            description = "Show only events of these types, such as run.status.changed or task_completed.")
    Set<String> types = new LinkedHashSet<>();

    @Option(names = "--after", paramLabel = "ID",
            description = "Start after this event; each line starts with the event's number.")
    @Nullable Long after;

    @Override
    protected void prepare() {
        for (String type : types) {
            if (!StreamTypes.all().contains(type)) {
                throw CliException.usage("EVENT_TYPE_UNKNOWN",
                        "unknown event type '" + TerminalText.clean(type) + "'"
                                + NameSuggestion.hint(type, StreamTypes.all())
                                + "; docs/reference/events.md lists them");
            }
        }
        if (archived && (run == null || follow || !types.isEmpty() || after != null)) {
            throw CliException.usage("RUN_NEEDED", "--archived requires a run and no other option");
        }
    }

    @Override
    protected void run(Keelson keelson) throws IOException {
        String id = RunDocuments.idIfGiven(keelson, run);
        if (archived && id != null) {
            try (BufferedReader lines = new BufferedReader(
                    new InputStreamReader(keelson.runs().exportedEvents(id), UTF_8))) {
                lines.lines().forEach(out()::println);
                out().flush();
            }
            return;
        }
        EventNames names = id == null ? null : new EventNames(keelson.runs(), id, clock());
        try (EventStream events = open(keelson, id)) {
            for (EventStream.Live event = events.next(); event != null && !server().interrupted(); event =
                    events.next()) {
                print(List.of(json ? event.data().toString() : line(event, names)));
            }
        }
    }

    private EventStream open(Keelson keelson, @Nullable String id) {
        if (id != null) {
            return keelson.runs().eventStream(id, types, follow, after == null ? 0 : after);
        }
        return keelson.eventStream(types, follow, after != null ? after : follow ? null : Long.valueOf(0));
    }

    /** The event's credits, such as {@code charged=0.04 hard_limit=0.05}; without amounts that are absent. */
    private static String money(JsonNode payload) {
        return MONEY.stream().filter(name -> payload.path(name).isString())
                .map(name -> amount(name, payload.get(name).stringValue())).flatMap(Optional::stream)
                .collect(Collectors.joining(" "));
    }

    private static Optional<String> amount(String name, String text) {
        BigDecimal amount = new BigDecimal(text);
        return amount.signum() == 0 ? Optional.empty() : Optional.of(name + "=" + AmountText.decimal(amount));
    }

    /** The number of failed parts of an ended run; empty if absent. */
    private static String failures(JsonNode payload) {
        int failures = payload.path("failures").asInt(0);
        String to = payload.path("to").asString("");
        return failures > 0 && (to.equals("completed") || to.equals("skipped")) ? "with failures: " + failures : "";
    }

    private static String error(JsonNode payload) {
        String code = payload.path("error_code").asString("");
        String message = payload.path("error_message").asString("");
        return code + (code.isEmpty() || message.isEmpty() ? "" : ": ") + message;
    }

    /** The run whose result is taken over or awaited; empty if absent. */
    private static String source(JsonNode payload) {
        return payload.path("source_run_id").isString() ? "result of run " + payload.get("source_run_id").stringValue()
                : "";
    }

    /** The signal that came or was taken; empty if absent. */
    private static String signal(JsonNode payload) {
        return payload.path("signal").isString() ? "signal=" + payload.get("signal").stringValue() : "";
    }

    private String line(EventStream.Live event, @Nullable EventNames names) {
        JsonNode data = event.data();
        JsonNode payload = data.path("payload");
        String subject = names != null ? names.subject(data)
                : data.path("step_id").isString() ? "step " + data.path("step_id").stringValue()
                        : data.path("task_id").isString() ? "task " + data.path("task_id").stringValue() : "";
        String change = payload.path("to").isString()
                ? payload.path("from").asString("") + " → " + payload.path("to").stringValue()
                : "";
        return TerminalText.clean(String.join("  ", String.valueOf(event.id()), data.path("created_at").asString(""),
                run == null ? data.path("run_id").asString("") : "", data.path("event_type").asString(""), subject,
                change, failures(payload), error(payload), payload.path("reason").asString(""), signal(payload),
                source(payload), money(payload)).replaceAll(" {3,}", "  ")
                .strip());
    }
}
