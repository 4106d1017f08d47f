package io.keelson.server.annex.trigger;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Reply;
import io.keelson.server.api.http.runs.SignalCommands;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.compute.UnbudgetedWork;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.read.RunReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Sends the signals of deliveries, once for each delivery and run. */
final class TriggeredSignals {

    /** Maximum open runs of a tag. */
    private static final int MAX_RUNS = 100;

    private final Database database;
    private final RunReader reader;
    private final SignalCommands signals;
    private final Commands commands;
    private final Computation computation;

    TriggeredSignals(Database database, RunReader reader, SignalCommands signals, Commands commands,
            Computation computation) {
        this.database = database;
        this.reader = reader;
        this.signals = signals;
        this.commands = commands;
        this.computation = computation;
    }

    /**
     * A signal to send.
     *
     * @param externalId of its run; null with a tag
     * @param tag of its open runs; null with an external id
     */
    record Target(String trigger, String name, @Nullable String externalId, @Nullable String tag, JsonNode payload) {}

    /** Sends the signal. A run that has received it, as before a crash, does not receive it again. */
    Outcome send(DeliveryRow delivery, Target target) throws InterruptedException {
        List<UUID> runs = database.withConnection(c -> target.externalId() != null
                ? reader.byExternalId(c, delivery.workspaceId(), target.externalId()).stream().toList()
                : reader.openWithTag(c, delivery.workspaceId(), String.valueOf(target.tag()), MAX_RUNS + 1));
        if (runs.isEmpty()) {
            return Outcome.failure(delivery.failures(), "SIGNAL_RUN_NOT_FOUND", target.externalId() != null
                    ? "no run has the external id '" + target.externalId() + "'"
                    : "no open run has the tag '" + target.tag() + "'");
        }
        if (runs.size() > MAX_RUNS) {
            return Outcome.refusal("SIGNAL_RUNS_TOO_MANY",
                    "more than " + MAX_RUNS + " open runs have the tag '" + target.tag() + "'");
        }
        Outcome refused = null;
        UUID sent = null;
        for (UUID run : runs) {
            Outcome outcome = send(delivery, target, run);
            if (outcome == null) {
                sent = sent == null ? run : sent;
            } else {
                refused = outcome;
            }
        }
        return sent != null ? Outcome.ofSignal(sent) : Objects.requireNonNull(refused);
    }

    /** Null if the run has the signal. */
    private @Nullable Outcome send(DeliveryRow delivery, Target target, UUID run) throws InterruptedException {
        UUID id = UUID.nameUUIDFromBytes((delivery.runId() + " " + run).getBytes(StandardCharsets.UTF_8));
        if (database.withConnection(c -> reader.hasSignal(c, run, id))) {
            return null;
        }
        try {
            SignalCommands.Prepared prepared = signals.prepare(delivery.workspaceId(), run, id, target.name(),
                    target.payload(), Actor.service("trigger " + target.trigger()),
                    check -> UnbudgetedWork.run(computation, delivery.workspaceId(), check::problems));
            return commands.commit(prepared.command(), null) instanceof Reply.Rejected rejected
                    ? Outcome.refusal(rejected.code(), rejected.message())
                    : null;
        } catch (ApiProblem e) {
            JsonNode first = e.document().at("/problems/0");
            return first.isMissingNode() ? Outcome.refusal(e.code(), String.valueOf(e.getMessage()))
                    : Outcome.refusal(first.path("code").asString(""),
                            first.path("pointer").asString("") + ": " + first.path("message").asString(""));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
