package io.keelson.server.annex.model.gateway;

import io.keelson.core.run.TraceParent;
import io.keelson.server.annex.model.gateway.Exchange.Follower;
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
    private static final Duration WAIT_INTERVAL = Duration.ofMinutes(1);
    private static final Duration OTHERS = Duration.ofMillis(200);
    private static final int OK = 200;

    private final ModelGateway gateway;
    private final GatewayRecords records;
    private final Found caller;
    private final LeaseRequests known;
    private final LeaseRequests.InFlight inFlight;
    private final ProgramRequest request;
    private final ConfiguredModel model;
    private final BooleanSupplier gone;
    private final @Nullable TraceParent program;
    private Occurrence<Source> occurrence;
    /** Null if the answer is in the record. */
    private @Nullable Followed followed;
    private boolean later;
    /** Bytes of memory that are taken for the whole answer. */
    private long kept;

    private record Followed(Exchange exchange, Follower follower) {

        void leave() {
            exchange.leave(follower);
        }
    }

    /** @param inFlight ended with the response */
    Delivery(ModelGateway gateway, Found caller, LeaseRequests known, LeaseRequests.InFlight inFlight,
            ProgramRequest request, ConfiguredModel model, MountedRequest mounted) throws InterruptedException {
        this.gateway = gateway;
        this.records = gateway.records();
        this.caller = caller;
        this.known = known;
        this.inFlight = inFlight;
        this.request = request;
        this.model = model;
        this.gone = mounted::clientGone;
        this.program = TraceParent.parse(mounted.header("traceparent"));
        this.occurrence = enter();
    }

    private Occurrence<Source> enter() throws InterruptedException {
        UUID step = caller.lease().stepId();
        if (known.orphansAreDue()) {
            gateway.closeOrphans(step);
        }
        UUID id = UUID.randomUUID();
        List<GatewayRecords.Found> recorded = known.find(new GatewayRecords.Keys(
                known.sources(() -> records.sources(step)), request.keys().k1(), request.keys().k2()));
        Occurrence<Source> entered = known.occurrences().enter(request, recorded, id, gateway::flying, gone);
        Exchange exchange = entered.facts().exchange();
        if (exchange != null && exchange.failed()) {
            // its client was gone before the failure, which counts for no other request
            known.occurrences().forget(request, entered);
            return enter();
        }
        Follower follower = exchange == null ? null : exchange.follow();
        followed = exchange == null || follower == null ? null : new Followed(exchange, follower);
        if (entered.facts().fresh() && exchange != null && entered.id().equals(id)) {
            gateway.begin(exchange, new Sender(gateway, caller, known, inFlight.shared(), request, model, program));
        }
        return entered;
    }

    /** Whether the response ends the request once it is written. */
    boolean endsLater() {
        return later;
    }

    ApiResponse response() throws GatewayError, InterruptedException {
        try {
            Followed live = followed;
            if (live != null && live.follower.live() && request.stream()) {
                live.exchange.awaitBeginning();
                return stream(out -> follow(live, out));
            }
            if (live != null && request.stream() && live.exchange.streamed()) {
                return stream(out -> followToEnd(live, out));
            }
            JsonNode document = document();
            if (request.stream()) {
                List<byte[]> events = events(document);
                return stream(out -> write(events, out));
            }
            return whole(Json.write(document));
        } catch (GatewayError e) {
            known.occurrences().forget(request, occurrence);
            throw e;
        } finally {
            if (!later) {
                leave(false);
            }
        }
    }

    /** The whole answer. A request whose server is gone with its answer is sent again as a new one. */
    private JsonNode document() throws GatewayError, InterruptedException {
        while (true) {
            Followed of = followed;
            JsonNode document = of == null ? recorded() : of.exchange.await(WAIT_INTERVAL);
            if (document != null) {
                return document;
            }
            if (of == null) {
                known.occurrences().forget(request, occurrence);
                occurrence = enter();
            }
        }
    }

    /** The recorded answer, which another server may still read; null if it is lost. */
    private @Nullable JsonNode recorded() throws GatewayError, InterruptedException {
        while (records.open(occurrence.id())) {
            gateway.closeOrphans(caller.lease().stepId());
            gateway.pause(OTHERS);
        }
        keep(records.size(occurrence.id()));
        return records.answer(occurrence.id()).map(answer -> answer.get("document")).orElse(null);
    }

    /** The events of a recorded answer, which stay in memory until the client has read them. */
    private List<byte[]> events(JsonNode document) throws GatewayError {
        List<byte[]> events = RecordedStream.of(request.path(), document, request.wantsUsage());
        keep(events.stream().mapToLong(event -> event.length).sum());
        return events;
    }

    /** Takes memory for the whole answer, in whichever form it is. */
    private void keep(long bytes) throws GatewayError {
        inFlight.take(Math.max(0, bytes - kept));
        kept = Math.max(kept, bytes);
    }

    private void leave(boolean delivered) {
        if (followed != null) {
            followed.leave();
        }
        known.occurrences().leave(occurrence, gone, delivered);
    }

    private void end(boolean delivered) {
        inFlight.close();
        leave(delivered);
    }

    private Map<String, String> headers() {
        Map<String, String> headers = new TreeMap<>();
        headers.put("Cache-Control", "no-cache");
        if (!occurrence.facts().fresh()) {
            headers.put(REPLAYED, occurrence.facts().alike() ? "alike" : "true");
            gateway.observer().onReplay(model.name());
        }
        if (followed != null && followed.exchange.maxOutput() > 0) {
            headers.put(MAX_OUTPUT, Long.toString(followed.exchange.maxOutput()));
        }
        return headers;
    }

    /** A document, which stays in memory until the client has read it. */
    private ApiResponse whole(byte[] bytes) throws GatewayError {
        keep(bytes.length);
        Map<String, String> headers = headers();
        leave(!gone.getAsBoolean());
        later = true;
        return new ApiResponse(OK, new ApiResponse.Content.Stream("application/json", bytes.length,
                new ByteArrayInputStream(bytes) {
                    @Override
                    public void close() {
                        inFlight.close();
                    }
                }), headers, false, "");
    }

    private ApiResponse stream(ApiResponse.Writer writer) {
        Map<String, String> headers = headers();
        later = true;
        return new ApiResponse(OK, new ApiResponse.Content.Live("text/event-stream", out -> {
            boolean delivered = false;
            try {
                writer.writeTo(out);
                delivered = true;
            } finally {
                end(delivered);
            }
        }), headers, false, "");
    }

    private static void write(List<byte[]> events, OutputStream out) throws IOException {
        for (byte[] event : events) {
            out.write(event);
        }
        out.flush();
    }

    /** The events as they pass. */
    private void follow(Followed live, OutputStream out) throws IOException, InterruptedException {
        byte[] alive = new StreamParts(request.path(), false).alive();
        int written = 0;
        boolean ended = false;
        while (!ended) {
            Exchange.News news;
            try {
                news = live.exchange.after(live.follower, KEEP_ALIVE);
            } catch (GatewayError e) {
                if (e.code().equals("answer_unread")) {
                    gateway.observer().onUnread(model.name());
                }
                throw brokenOff(e, written, out);
            }
            write(news.events().isEmpty() && !news.ended() ? List.of(alive) : news.events(), out);
            written += news.events().size();
            ended = news.ended();
        }
        if (written == 0) {
            // the provider has not streamed its answer
            followToEnd(live, out);
        }
    }

    /** The events of the record, once the answer has ended. */
    private void followToEnd(Followed of, OutputStream out) throws IOException, InterruptedException {
        List<byte[]> alive = List.of(new StreamParts(request.path(), false).alive());
        JsonNode document = null;
        while (document == null) {
            List<byte[]> news;
            try {
                document = of.exchange.await(KEEP_ALIVE);
                news = document == null ? alive : events(document);
            } catch (GatewayError e) {
                throw brokenOff(e, 0, out);
            }
            write(news, out);
        }
    }

    /**
     * Ends a stream by an error in the form of the API, and then without the end of an answer: some libraries notice only one of the two.
     *
     * @param written events of the answer
     */
    private UncheckedIOException brokenOff(GatewayError e, int written, OutputStream out) throws IOException {
        known.occurrences().forget(request, occurrence);
        write(List.of(StreamParts.error(request.path(), e, written)), out);
        return new UncheckedIOException(new IOException("the answer broke off: " + e.message()));
    }
}
