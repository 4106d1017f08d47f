package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Keelson;
import io.keelson.client.WebhookRequest;
import io.keelson.core.Breadth;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that is killed once the mail server has a message and before its reply: the mail comes again, under the same id. */
@Breadth.InPart(1)
class MailKillTest {

    private static final Sql DUE = Sql.of("update webhook_endpoints set due_at = clock_timestamp() where enabled");
    private static final Sql STATES = Sql.of("select state from webhook_deliveries");

    @TempDir
    Path folder;

    /** Takes mail over SMTP; holds the reply to the first message until it is released. */
    private static final class HeldMail implements AutoCloseable {

        private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.ofLiteral("127.0.0.1"));
        private final List<String> ids = new CopyOnWriteArrayList<>();
        private final CountDownLatch taken = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        HeldMail() throws IOException {
            Thread.startVirtualThread(() -> {
                while (!socket.isClosed()) {
                    try {
                        Socket client = socket.accept();
                        Thread.startVirtualThread(() -> serve(client));
                    } catch (IOException e) {
                        return;
                    }
                }
            });
        }

        private void serve(Socket client) {
            try (client) {
                BufferedReader in = new BufferedReader(
                        new InputStreamReader(client.getInputStream(), StandardCharsets.ISO_8859_1));
                OutputStream out = client.getOutputStream();
                say(out, "220 held");
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    if (line.startsWith("DATA")) {
                        say(out, "354 go on");
                        for (line = in.readLine(); line != null && !line.equals("."); line = in.readLine()) {
                            if (line.startsWith("Message-ID:")) {
                                ids.add(line);
                            }
                        }
                        taken.countDown();
                        released.await();
                    }
                    say(out, line != null && line.startsWith("QUIT") ? "221 bye" : "250 ok");
                }
            } catch (IOException | InterruptedException e) {
                // the killed server's connection
            }
        }

        private static void say(OutputStream out, String line) throws IOException {
            out.write((line + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
        }

        @Override
        public void close() throws IOException {
            released.countDown();
            socket.close();
        }
    }

    @Test
    void mailComesAgainUnderTheSameIdAfterAKill() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (HeldMail mail = new HeldMail();
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            Map<String, String> settings = Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url), "KEELSON_SMTP_HOST",
                    "127.0.0.1", "KEELSON_SMTP_PORT", String.valueOf(mail.socket.getLocalPort()), "KEELSON_SMTP_TLS",
                    "none", "KEELSON_SMTP_FROM", "keelson@example.com");
            ServerProcess first = ServerProcess.start(folder.resolve("a"), settings);
            try (first) {
                Keelson keelson = first.client();
                keelson.webhooks().create(
                        WebhookRequest.to("mailto:alex@example.org").events(List.of("approval.needed")));
                keelson.api().post("/runs", Json.read("""
                        {"name": "a", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                          {"kind": "approval", "input": {}}]}]}}""".getBytes(StandardCharsets.UTF_8)));
                mail.taken.await();
                first.killNow();
            }
            mail.released.countDown();
            try (ServerProcess second = ServerProcess.start(folder.resolve("a"), settings)) {
                assertThat(second.url()).isNotNull();
                database.runInTransaction(c -> {
                    DUE.on(c).update();
                });
                Awaitility.await().atMost(Duration.ofSeconds(90)).until(() -> database
                        .withConnection(c -> STATES.on(c).all(row -> row.getString("state")))
                        .equals(List.of("delivered")));
            }
            assertThat(mail.ids).hasSize(2);
            assertThat(mail.ids.getFirst()).isEqualTo(mail.ids.getLast()).contains("<msg_");
        }
    }
}
