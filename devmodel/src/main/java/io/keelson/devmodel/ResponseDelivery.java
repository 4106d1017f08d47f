package io.keelson.devmodel;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Sends one answer at the pace, and with the faults, that a rule states, and ends its entry in the journal. */
final class ResponseDelivery {

    static final String JSON = "application/json";
    private static final String EVENTS = "text/event-stream; charset=utf-8";
    /** Bytes of a write of a dripping body that is no stream of events. */
    private static final int DROP_BYTES = 16;
    private static final int ENDLESS_DRIP_MS = 1_000;

    private final JsonNode answer;
    private final Journal.Entry entry;
    private final WireResponse response;

    /** @param answer {@code answer} of a rule; empty for an answer at once and without faults */
    ResponseDelivery(JsonNode answer, Journal.Entry entry, WireResponse response) {
        this.answer = answer;
        this.entry = entry;
        this.response = response;
    }

    /** @param answers whether the body has the answer of a model, which is delivered when it is written whole */
    void send(int status, JsonNode body, boolean answers) throws IOException {
        send(status, JSON, List.of(body.toString()), answers);
    }

    /** Sends the events of an answer. */
    void stream(List<String> events) throws IOException {
        send(200, EVENTS, events, true);
    }

    private void send(int status, String type, List<String> parts, boolean answers) throws IOException {
        boolean malformed = answer.path("malformed").asBoolean(false);
        boolean spoiled = malformed || answer.has("body") || answer.has("content_type");
        boolean events = type.equals(EVENTS);
        List<String> texts = answer.has("body") ? List.of(answer.get("body").asString())
                : malformed ? withoutLastBrace(parts) : parts;
        try {
            begin();
            String contentType = answer.path("content_type").asString(type);
            if (answer.path("endless").asBoolean(false)) {
                endless(status, contentType, events ? ": endless\n\n" : " ");
            }
            List<byte[]> pieces = pieces(texts, events);
            response.begin(status, contentType, events ? -1 : pieces.stream().mapToLong(each -> each.length).sum());
            response.pause(millis("first_byte_ms", 0));
            for (byte[] piece : pieces.subList(0, pieces.size() - 1)) {
                response.write(piece);
                response.pause(millis("drip_ms", 0));
            }
            // a client that has read the last byte then finds the entry ended
            synchronized (entry) {
                response.write(pieces.getLast());
                response.end();
                entry.end(spoiled ? "spoiled" : "whole", response.sent(), answers && !spoiled);
            }
        } catch (WireResponse.CutException e) {
            entry.end("cut", response.sent(), false);
            throw e;
        } catch (IOException e) {
            entry.end("gone", response.sent(), false);
            throw e;
        }
    }

    private void begin() throws IOException {
        answer.path("headers").properties().forEach(each -> response.header(each.getKey(), each.getValue().asString()));
        response.cutAfter(answer.path("cut_after_bytes").asLong(Long.MAX_VALUE));
        response.pause(millis("delay_ms", 0));
        if (answer.path("reset").asBoolean(false)) {
            response.reset();
            if (!answer.has("cut_after_bytes")) {
                throw new WireResponse.CutException();
            }
        }
    }

    /** Bytes without a meaning, until the client closes the connection. */
    private void endless(int status, String contentType, String drop) throws IOException {
        response.begin(status, contentType, -1);
        response.pause(millis("first_byte_ms", 0));
        while (true) {
            response.write(drop.getBytes(StandardCharsets.UTF_8));
            response.pause(millis("drip_ms", ENDLESS_DRIP_MS));
        }
    }

    /** Bytes of one write: an event or a part of a body; all but the last byte without dripping. */
    private List<byte[]> pieces(List<String> texts, boolean events) {
        if (events) {
            return texts.stream().map(each -> each.getBytes(StandardCharsets.UTF_8)).toList();
        }
        byte[] body = texts.getFirst().getBytes(StandardCharsets.UTF_8);
        int size = answer.has("drip_ms") ? DROP_BYTES : Math.max(1, body.length - 1);
        List<byte[]> pieces = new ArrayList<>();
        int from = 0;
        do {
            pieces.add(Arrays.copyOfRange(body, from, Math.min(from + size, body.length)));
            from += size;
        } while (from < body.length);
        return pieces;
    }

    private static List<String> withoutLastBrace(List<String> parts) {
        List<String> broken = new ArrayList<>(parts);
        for (int i = broken.size() - 1; i >= 0; i--) {
            int brace = broken.get(i).lastIndexOf('}');
            if (brace >= 0) {
                broken.set(i, new StringBuilder(broken.get(i)).deleteCharAt(brace).toString());
                return broken;
            }
        }
        return broken;
    }

    private Duration millis(String member, int otherwise) {
        return Duration.ofMillis(answer.path(member).asLong(otherwise));
    }
}
