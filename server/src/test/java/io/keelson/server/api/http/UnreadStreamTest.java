package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The system takes little of a stream for a client that does not read it, as the server would write that for each such client. */
@Breadth.InPart(2)
class UnreadStreamTest {
    private static final int RUNS = 150;
    private static final int MOST = 256 << 10;
    private static final String MISSION = """
            {"name": "long", "start": true, "plan": {"tasks": [{"id": "t", "title": "%s", "steps": [
              {"name": "a", "tool": "noop"}, {"name": "b", "tool": "noop"}, {"name": "c", "tool": "noop"}]}]}}"""
            .formatted("a".repeat(200));

    @Test
    void littleOfAStreamIsWrittenAhead(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder); Socket socket = new Socket()) {
            for (int i = 0; i < RUNS; i++) {
                assertThat(api.post("/api/v1/runs", MISSION).status()).isEqualTo(201);
            }
            Awaitility.await().until(() -> api.get("/api/v1/runs?state=completed&limit=" + RUNS).json().get("items")
                    .size() == RUNS);
            socket.setReceiveBufferSize(4_096);
            socket.connect(new InetSocketAddress(api.url().getHost(), api.url().getPort()));
            socket.getOutputStream()
                    .write(("GET /api/v1/events/stream?after=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                            + api.key() + "\r\nAccept: text/event-stream\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            List<Long> unread = new ArrayList<>();
            Awaitility.await().pollInterval(Duration.ofMillis(300)).until(() -> {
                unread.add(unread(socket.getLocalPort()));
                int size = unread.size();
                return size > 3 && unread.getLast() > 0 && unread.getLast().equals(unread.get(size - 3));
            });
            assertThat(unread.getLast()).as("of %s", unread).isBetween(1L, (long) MOST);
        }
    }

    /** Bytes that wait in the system to be received at that port of this machine. */
    private static long unread(int port) throws IOException {
        long sum = 0;
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            try (Stream<String> lines = Files.lines(Path.of(table))) {
                sum += lines.skip(1).map(line -> line.strip().split("\\s+", -1))
                        .filter(fields -> fields[2].endsWith(":%04X".formatted(port)))
                        .mapToLong(fields -> Long.parseLong(fields[4].split(":", 2)[0], 16)).sum();
            }
        }
        return sum;
    }
}
