package io.keelson.server.annex.model.gateway;

import io.keelson.server.annex.model.gateway.Occurrences.Source;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.api.http.gateway.EqualRequests.Occurrence;
import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.MountedRequest;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.queue.GatewayTokens.Found;
import io.keelson.server.engine.store.read.GatewayRecords;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Delivers an answer to one client: from the record, from an exchange that has begun, or from a new one. */
final class Delivery {
    private static final String REPLAYED = "x-keelson-replayed";
    private static final String MAX_OUTPUT = "x-keelson-max-output";
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(5);
    private static final Duration OTHERS = Duration.ofMillis(200);
    private static final int OK = 200;

    private final ModelGateway gateway;
    private final GatewayRecords records;
    private final Found caller;
    private final LeaseRequests known;
    private final ProgramRequest request;
    private final ConfiguredModel model;
    private final BooleanSupplier gone;
    private Occurrence<Source> occurrence;
    private boolean later;

    Delivery(ModelGateway gateway, Found caller, LeaseRequests known, ProgramRequest request, ConfiguredModel model,
            MountedRequest mounted) throws InterruptedException {
        this.gateway = gateway;
        this.records = gateway.records();
        this.caller = caller;
        this.known = known;
        this.request = request;
        this.model = model;
        this.gone = mounted::clientGone;
        this.occurrence = enter();
    }

    private Occurrence<Source> enter() throws InterruptedException {
        UUID step = caller.lease().stepId();
        if (known.orphansAreDue()) {
            gateway.closeOrphans(step);
        }
        UUID id = UUID.randomUUID();
        Occurrence<Source> entered = known.occurrences().enter(request, records,
                known.sources(() -> records.sources(step)), id, gateway::flying, gone);
        Exchange exchange = entered.facts().exchange();
        if (entered.facts().fresh() && exchange != null && entered.id().equals(id)) {
            gateway.begin(exchange, new Sender(gateway, caller, known, request, model));
        }
        return entered;
    }

    /** Whether the response ends the request once it is written. */
    boolean endsLater() {
        return later;
    }

    ApiResponse response() throws GatewayError, InterruptedException {
        boolean delivered = false;
        try {
            Exchange exchange = occurrence.facts().exchange();
            if (exchange != null && exchange.streamed() && request.stream()) {
                exchange.awaitBeginning();
                later = true;
                return stream(headers(exchange), out -> follow(exchange, out));
            }
            JsonNode document = document();
            if (request.stream()) {
                List<byte[]> events = RecordedStream.of(request.path(), document, request.wantsUsage());
                later = true;
                return stream(headers(occurrence.facts().exchange()), out -> {
                    for (byte[] event : events) {
                        out.write(event);
                    }
                    out.flush();
                });
            }
            delivered = !gone.getAsBoolean();
            byte[] bytes = Json.write(document);
            return new ApiResponse(OK, new ApiResponse.Content.Stream("application/json", bytes.length,
                    new ByteArrayInputStream(bytes)), headers(occurrence.facts().exchange()), false, "");
        } catch (GatewayError e) {
            known.occurrences().forget(request, occurrence);
            throw e;
        } finally {
            if (!later) {
                known.occurrences().leave(occurrence, gone, delivered);
            }
        }
    }

    /** The whole answer. A request whose server is gone with its answer is sent again as a new one. */
    private JsonNode document() throws GatewayError, InterruptedException {
        while (true) {
            Exchange exchange = occurrence.facts().exchange();
            JsonNode document = exchange == null ? recorded() : exchange.await();
            if (document != null) {
                return document;
            }
            known.occurrences().forget(request, occurrence);
            occurrence = enter();
        }
    }

    /** The recorded answer, which another server may still read; null if it is lost. */
    private @Nullable JsonNode recorded() throws InterruptedException {
        while (records.open(occurrence.id())) {
            gateway.closeOrphans(caller.lease().stepId());
            gateway.pause(OTHERS);
        }
        return records.answer(occurrence.id()).map(answer -> answer.get("document")).orElse(null);
    }

    private Map<String, String> headers(@Nullable Exchange exchange) {
        Map<String, String> headers = new TreeMap<>();
        headers.put("Cache-Control", "no-cache");
        if (!occurrence.facts().fresh()) {
            headers.put(REPLAYED, occurrence.facts().alike() ? "alike" : "true");
            gateway.observer().onReplay(model.name());
        }
        if (exchange != null && exchange.maxOutput() > 0) {
            headers.put(MAX_OUTPUT, Long.toString(exchange.maxOutput()));
        }
        return headers;
    }

    private ApiResponse stream(Map<String, String> headers, ApiResponse.Writer writer) {
        return new ApiResponse(OK, new ApiResponse.Content.Live("text/event-stream", out -> {
            boolean delivered = false;
            try {
                writer.writeTo(out);
                delivered = true;
            } finally {
                known.end();
                known.occurrences().leave(occurrence, gone, delivered);
            }
        }), headers, false, "");
    }

    private void follow(Exchange exchange, OutputStream out) throws IOException, InterruptedException {
        byte[] alive = new StreamParts(request.path(), false).alive();
        int written = 0;
        boolean ended = false;
        while (!ended) {
            Exchange.News news;
            try {
                news = exchange.after(written, KEEP_ALIVE);
            } catch (GatewayError e) {
                known.occurrences().forget(request, occurrence);
                throw new UncheckedIOException(new IOException("the answer broke off: " + e.message()));
            }
            for (byte[] event : news.events()) {
                out.write(event);
            }
            if (news.events().isEmpty() && !news.ended()) {
                out.write(alive);
            }
            out.flush();
            written += news.events().size();
            ended = news.ended();
        }
    }
}
