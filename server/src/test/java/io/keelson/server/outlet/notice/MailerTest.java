package io.keelson.server.outlet.notice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.mail.internet.MimeMessage;
import jakarta.mail.internet.MimeMultipart;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Mail to a server of the test, encrypted and refused. */
class MailerTest {

    private static final Instant AT = Instant.parse("2026-11-30T12:00:00Z");
    private static final List<Notice> NOTICES = List.of(new Notice("Release\r\nBcc: all@example.org waits",
            "Publish <b>now</b>?\nBcc: all@example.org", List.of(new Notice.Fact("Cost", "1.5 credits")),
            List.of(new Notice.Link("Answer", "https://keelson.example/answer/x"))));

    private static Mailer mailer(MailServer server, String host, SmtpSettings.Tls tls, @Nullable String user,
            @Nullable Path authorities) {
        return new Mailer(new SmtpSettings(host, server.port(), tls, user, user == null ? null : "right",
                "keelson@example.com", authorities));
    }

    @Test
    void mailIsEncryptedAndHasTextAndHtmlAndTheIdOfItsDelivery() throws Exception {
        try (MailServer server = new MailServer("smtps")) {
            server.user("keelson", "right");
            Mailer mailer = mailer(server, "localhost", SmtpSettings.Tls.TLS, "keelson", MailServer.authorities());
            mailer.check();
            mailer.send("alex@example.org", NOTICES, "msg_1", AT);
            mailer.send("alex@example.org", NOTICES, "msg_1", AT);

            assertThat(server.received()).hasSize(2);
            for (MimeMessage mail : server.received()) {
                assertThat(mail.getHeader("Message-ID")).containsExactly("<msg_1@example.com>");
                assertThat(mail.getAllRecipients()).hasSize(1);
                assertThat(mail.getHeader("Bcc")).isNull();
                assertThat(mail.getSubject()).isEqualTo("Release  Bcc: all@example.org waits");
                assertThat(mail.getHeader("Auto-Submitted")).containsExactly("auto-generated");
                MimeMultipart parts = (MimeMultipart) mail.getContent();
                assertThat(parts.getContentType()).startsWith("multipart/alternative");
                assertThat(parts.getBodyPart(0).getContent().toString()).contains("Publish <b>now</b>?",
                        "Cost: 1.5 credits", "Answer: https://keelson.example/answer/x");
                assertThat(parts.getBodyPart(1).getContent().toString()).contains("Publish &lt;b&gt;now&lt;/b&gt;?",
                        "<a href=\"https://keelson.example/answer/x\">Answer</a>");
            }
        }
    }

    @Test
    void nothingIsSentWithoutTheConfiguredEncryptionOrToAnotherServer() {
        try (MailServer plain = new MailServer("smtp"); MailServer tls = new MailServer("smtps")) {
            tls.user("keelson", "wrong");
            assertThatThrownBy(() -> mailer(plain, "localhost", SmtpSettings.Tls.STARTTLS, null, null)
                    .send("a@example.org", NOTICES, "1", AT)).isInstanceOf(IOException.class)
                    .hasMessageContaining("STARTTLS");
            assertThatThrownBy(() -> mailer(tls, "localhost", SmtpSettings.Tls.TLS, null, null)
                    .send("a@example.org", NOTICES, "1", AT)).as("unknown authority").isInstanceOf(IOException.class);
            assertThatThrownBy(() -> mailer(tls, "127.0.0.1", SmtpSettings.Tls.TLS, null, MailServer.authorities())
                    .send("a@example.org", NOTICES, "1", AT)).as("another name").isInstanceOf(IOException.class);
            assertThatThrownBy(() -> mailer(tls, "localhost", SmtpSettings.Tls.TLS, "keelson",
                    MailServer.authorities()).check()).as("wrong password").isInstanceOf(IOException.class)
                    .hasMessageContaining("535");
            assertThat(plain.received()).isEmpty();
            assertThat(tls.received()).isEmpty();
        }
    }
}
