package io.keelson.server.annex.notice;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.outlet.notice.MailServer;
import jakarta.mail.internet.MimeMessage;
import jakarta.mail.internet.MimeMultipart;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Mail from a question to its answer, over an outage of the mail server. */
@Breadth.InPart(1)
class MailTest {

    @TempDir
    Path folder;

    @Test
    void mailWaitsForItsServerAndItsLinkAnswers() throws Exception {
        try (MailServer mail = new MailServer("smtps");
                ApiServer api = new ApiServer(folder, TestDatabase.createUrl(),
                        Map.of("KEELSON_SMTP_HOST", "localhost", "KEELSON_SMTP_PORT", String.valueOf(mail.port()),
                                "KEELSON_SMTP_TLS", "tls", "KEELSON_SMTP_FROM", "keelson@example.com",
                                "KEELSON_SMTP_AUTHORITIES", MailServer.authorities().toString()));
                HttpClient browser = HttpClient.newHttpClient()) {
            api.post("/api/v1/api-keys", "{\"name\": \"alex\", \"principal\": \"alex\", \"principal_kind\": \"person\","
                    + " \"scopes\": [\"runs:read\", \"approve\"]}");
            JsonNode receiver = api.post("/api/v1/webhooks",
                    "{\"url\": \"mailto:alex@example.org\", \"recipient\": \"alex\", \"events\": [\"approval.needed\"]}")
                    .json();
            assertThat(receiver.get("format").stringValue()).isEqualTo("mail");
            String path = "/api/v1/webhooks/" + receiver.get("id").stringValue();
            mail.stop();
            String run = api.create("""
                    {"name": "release\\u00e9", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                      {"kind": "approval", "input": {"question": "Publish?"}}]},
                      {"id": "b", "steps": [{"kind": "approval", "input": {"question": "Tell all?"}}]}]}}""");
            Awaitility.await().atMost(Duration.ofSeconds(60))
                    .until(() -> !api.get(path).json().get("last_error").isNull()
                            && api.get(path).json().get("pending").longValue() == 2);
            mail.startAgain();
            api.post(path + "/ping", "{}");
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> mail.received().size() == 3);

            Set<String> ids = new HashSet<>();
            for (MimeMessage each : mail.received()) {
                ids.add(each.getMessageID());
            }
            assertThat(ids).hasSize(3).allMatch(id -> id.matches("<msg_[0-9a-f-]{36}@example.com>"));
            MimeMessage first = mail.received().getFirst();
            assertThat(first.getSubject()).isEqualTo("release\u00e9 waits for your decision");
            String text = ((MimeMultipart) first.getContent()).getBodyPart(0).getContent().toString();
            Matcher link = Pattern.compile("Answer: (http\\S+)").matcher(text);
            assertThat(link.find()).as(text).isTrue();
            URI address = URI.create(link.group(1));
            HttpResponse<String> page =
                    browser.send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString());
            Matcher seen = Pattern.compile("name=\"seen\" value=\"([^\"]+)\"").matcher(page.body());
            assertThat(seen.find()).as(page.body()).isTrue();
            HttpResponse<String> done = browser.send(HttpRequest.newBuilder(address)
                    .header("Origin", address.getScheme() + "://" + address.getAuthority())
                    .POST(BodyPublishers.ofString("choice=ACCEPT&seen=" + seen.group(1), StandardCharsets.UTF_8))
                    .build(), BodyHandlers.ofString());
            assertThat(done.statusCode()).as(done.body()).isEqualTo(200);
            assertThat(api.get("/api/v1/inbox?run_id=" + run).json().get("items")).as("the other question").hasSize(1);
            Awaitility.await().atMost(Duration.ofSeconds(30))
                    .until(() -> api.get(path).json().get("pending").longValue() == 0);
        }
    }
}
