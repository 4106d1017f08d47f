package io.keelson.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.keelson.server.db.TestDatabase;
import io.keelson.server.trace.TraceAttribute;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The spans that a collector gets over OTLP, read from the wire by hand. */
class TracesTest {

    private record Sent(String trace, String id, String parent, String name, long start, long end,
            Map<String, String> attributes) {}

    private final List<Sent> spans = new CopyOnWriteArrayList<>();

    @Test
    void aRunIsATrace(@TempDir Path folder) throws Exception {
        HttpServer collector = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        collector.createContext("/v1/traces", exchange -> {
            read(ByteBuffer.wrap(exchange.getRequestBody().readAllBytes()));
            exchange.getResponseHeaders().add("Content-Type", "application/x-protobuf");
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        collector.start();
        try (ApiServer api = new ApiServer(folder, TestDatabase.createUrl(), Map.of("OTEL_EXPORTER_OTLP_ENDPOINT",
                "http://127.0.0.1:" + collector.getAddress().getPort(), "OTEL_BSP_SCHEDULE_DELAY", "50"))) {
            String good = api.create("""
                    {"name": "good", "start": true, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                      {"name": "a", "tool": "echo", "input": {}}, {"name": "b", "tool": "echo", "input": {}}]}]}}""");
            String bad = api.create("""
                    {"name": "bad", "start": true, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                      {"name": "a", "tool": "fail", "input": {"message": "no"}, "retry": {"max_attempts": 1}}]}]}}""");
            api.awaitState(good, "completed");
            api.awaitState(bad, "failed");
            Awaitility.await().until(() -> spans.size() >= 7);

            List<Sent> trace = spans.stream().filter(span -> span.trace.equals(good.replace("-", ""))).toList();
            Map<String, Sent> named = trace.stream().collect(Collectors.toMap(Sent::name, span -> span));
            assertThat(named).containsOnlyKeys("run good", "task one", "step a", "step b");
            assertThat(named.get("run good").parent).isEmpty();
            assertThat(named.get("task one").parent).isEqualTo(named.get("run good").id);
            assertThat(named.get("step a").parent).isEqualTo(named.get("task one").id);
            assertThat(named.get("step b").parent).isEqualTo(named.get("task one").id);
            assertThat(named.get("step b").attributes).containsEntry("keelson.run.id", good)
                    .containsEntry("keelson.task.key", "one").containsEntry("keelson.tool", "echo")
                    .containsEntry("keelson.step.attempt", "1").containsEntry("keelson.outcome", "completed");
            assertThat(trace).allSatisfy(span -> assertThat(span.end).isGreaterThanOrEqualTo(span.start));
            assertThat(spans).filteredOn(span -> span.trace.equals(bad.replace("-", "")))
                    .hasSize(3).allSatisfy(span -> assertThat(span.attributes).containsKey("error.type"));
            requireDocumented();
        } finally {
            collector.stop(0);
        }
    }

    private void requireDocumented() {
        Set<String> sent = new TreeSet<>();
        for (Sent span : spans) {
            String kind = span.name.split(" ")[0];
            Set<String> documented = Stream.of(TraceAttribute.values())
                    .filter(each -> each.spans().anyMatch(kind::equals)).map(TraceAttribute::sent)
                    .collect(Collectors.toSet());
            assertThat(documented).as(span.name).containsAll(span.attributes.keySet());
            sent.addAll(span.attributes.keySet());
        }
        assertThat(sent).contains("keelson.run.name", "keelson.state", "keelson.error.class", "keelson.lease.holder");
    }

    /** ExportTraceServiceRequest, ResourceSpans and ScopeSpans down to Span, whose fields 1 to 9 are of interest. */
    private void read(ByteBuffer request) {
        fields(request, (export, resource) -> fields(resource, (inResource, scope) -> {
            if (inResource == 2) {
                fields(scope, (inScope, span) -> {
                    if (inScope == 2) {
                        spans.add(span(span));
                    }
                });
            }
        }));
    }

    private static Sent span(ByteBuffer bytes) {
        Map<Integer, byte[]> plain = new TreeMap<>();
        Map<String, String> attributes = new TreeMap<>();
        fields(bytes, (number, value) -> {
            if (number == 9) {
                String[] pair = new String[2];
                fields(value, (part, content) -> {
                    if (part == 1) {
                        pair[0] = StandardCharsets.UTF_8.decode(content).toString();
                    } else {
                        fields(content, (type, any) -> pair[1] = type == 1
                                ? StandardCharsets.UTF_8.decode(any).toString()
                                : Long.toString(any.getLong()));
                    }
                });
                attributes.put(pair[0], pair[1]);
            } else {
                byte[] copy = new byte[value.remaining()];
                value.get(copy);
                plain.put(number, copy);
            }
        });
        HexFormat hex = HexFormat.of();
        return new Sent(hex.formatHex(plain.get(1)), hex.formatHex(plain.get(2)),
                hex.formatHex(plain.getOrDefault(4, new byte[0])), new String(plain.get(5), StandardCharsets.UTF_8),
                ByteBuffer.wrap(plain.get(7)).getLong(), ByteBuffer.wrap(plain.get(8)).getLong(), attributes);
    }

    /** Fields of a protobuf message; numbers are handed over as eight bytes. */
    private static void fields(ByteBuffer message, BiConsumer<Integer, ByteBuffer> each) {
        message.order(ByteOrder.LITTLE_ENDIAN);
        while (message.hasRemaining()) {
            int key = (int) varint(message);
            ByteBuffer value = switch (key & 7) {
                case 0 -> number(varint(message));
                case 1 -> number(message.getLong());
                case 2 -> {
                    int length = (int) varint(message);
                    ByteBuffer part = message.slice(message.position(), length);
                    message.position(message.position() + length);
                    yield part;
                }
                case 5 -> number(message.getInt());
                default -> throw new AssertionError("wire type of " + key);
            };
            each.accept(key >>> 3, value);
        }
    }

    private static ByteBuffer number(long value) {
        return ByteBuffer.allocate(8).putLong(0, value);
    }

    private static long varint(ByteBuffer bytes) {
        long value = 0;
        for (int shift = 0;; shift += 7) {
            byte next = bytes.get();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }
}
