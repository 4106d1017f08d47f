package io.keelson.server.outlet.notice;

import jakarta.mail.Authenticator;
import jakarta.mail.Message;
import jakarta.mail.MessagingException;
import jakarta.mail.Session;
import jakarta.mail.URLName;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeBodyPart;
import jakarta.mail.internet.MimeMessage;
import jakarta.mail.internet.MimeMultipart;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Properties;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import org.eclipse.angus.mail.smtp.SMTPAddressFailedException;
import org.eclipse.angus.mail.smtp.SMTPSendFailedException;
import org.eclipse.angus.mail.smtp.SMTPTransport;
import org.jspecify.annotations.Nullable;

/** Sends mail over SMTP, one connection for each message. Thread-safe. */
public final class Mailer {

    private static final String TIMEOUT_MILLIS = "10000";

    private final SmtpSettings settings;

    public Mailer(SmtpSettings settings) {
        this.settings = settings;
    }

    /** A refusal of the mail server, with the code of its reply; -1 without one. */
    public static final class Refused extends IOException {

        private static final long serialVersionUID = 1L;

        private final int code;

        Refused(int code, String message, Throwable cause) {
            super(message, cause);
            this.code = code;
        }

        /** Three digits, or -1. */
        public int code() {
            return code;
        }
    }

    /**
     * Sends one message. The mail server has accepted it when this returns.
     *
     * @param to address of one mailbox
     * @param id from which the {@code Message-ID} follows, so that a repetition has the same one
     * @param at its date
     * @throws IOException if the mail server cannot be reached or refuses; it may have accepted the message when its reply is lost
     */
    public void send(String to, List<Notice> notices, String id, Instant at) throws IOException {
        Session session = session();
        try (SMTPTransport transport = transport(session)) {
            MimeMessage message = message(session, to, MailMessage.of(notices), id, at);
            transport.connect();
            transport.sendMessage(message, message.getAllRecipients());
        } catch (MessagingException e) {
            throw failure(e);
        }
    }

    /**
     * Connects, signs in and sends nothing.
     *
     * @throws IOException if that fails
     */
    public void check() throws IOException {
        try (SMTPTransport transport = transport(session())) {
            transport.connect();
        } catch (MessagingException e) {
            throw failure(e);
        }
    }

    private SMTPTransport transport(Session session) {
        return new SMTPTransport(session, new URLName("smtp", settings.host(), settings.port(), null,
                settings.user(), settings.password()));
    }

    private Session session() throws IOException {
        Properties properties = new Properties();
        properties.putAll(java.util.Map.of("mail.smtp.host", settings.host(), "mail.smtp.port",
                Integer.toString(settings.port()), "mail.smtp.connectiontimeout", TIMEOUT_MILLIS, "mail.smtp.timeout",
                TIMEOUT_MILLIS, "mail.smtp.writetimeout", TIMEOUT_MILLIS, "mail.smtp.ssl.checkserveridentity", "true",
                "mail.smtp.quitwait", "false", "mail.smtp.auth", Boolean.toString(settings.user() != null)));
        switch (settings.tls()) {
            case STARTTLS -> {
                properties.put("mail.smtp.starttls.enable", "true");
                properties.put("mail.smtp.starttls.required", "true");
            }
            case TLS -> properties.put("mail.smtp.ssl.enable", "true");
            case NONE -> properties.put("mail.smtp.starttls.enable", "false");
        }
        SSLSocketFactory trusted = trusted();
        if (trusted != null) {
            properties.put("mail.smtp.ssl.socketFactory", trusted);
        }
        return Session.getInstance(properties, (Authenticator) null);
    }

    private @Nullable SSLSocketFactory trusted() throws IOException {
        if (settings.authorities() == null) {
            return null;
        }
        try (InputStream file = Files.newInputStream(settings.authorities())) {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
                store.setCertificateEntry("authority" + store.size(), each);
            }
            TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            managers.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, managers.getTrustManagers(), null);
            return context.getSocketFactory();
        } catch (GeneralSecurityException e) {
            throw new IOException("the certificates of " + settings.authorities() + " cannot be used: "
                    + e.getMessage(), e);
        }
    }

    private MimeMessage message(Session session, String to, MailMessage content, String id, Instant at)
            throws MessagingException {
        String messageId = "<" + id + "@" + settings.from().substring(settings.from().indexOf('@') + 1) + ">";
        MimeMessage message = new MimeMessage(session) {
            @Override
            protected void updateMessageID() throws MessagingException {
                setHeader("Message-ID", messageId);
            }
        };
        message.setFrom(new InternetAddress(settings.from(), true));
        message.setRecipient(Message.RecipientType.TO, new InternetAddress(to, true));
        message.setSubject(content.subject(), StandardCharsets.UTF_8.name());
        message.setSentDate(Date.from(at));
        message.setHeader("Auto-Submitted", "auto-generated");
        MimeBodyPart plain = new MimeBodyPart();
        plain.setText(content.plain(), StandardCharsets.UTF_8.name());
        MimeBodyPart html = new MimeBodyPart();
        html.setText(content.html(), StandardCharsets.UTF_8.name(), "html");
        message.setContent(new MimeMultipart("alternative", plain, html));
        message.saveChanges();
        return message;
    }

    private static IOException failure(MessagingException failure) {
        int code = -1;
        for (Exception each = failure; each instanceof MessagingException next; each = next.getNextException()) {
            if (each instanceof SMTPAddressFailedException refused) {
                code = refused.getReturnCode();
            } else if (each instanceof SMTPSendFailedException refused) {
                code = refused.getReturnCode();
            }
        }
        return new Refused(code, String.valueOf(failure.getMessage()), failure);
    }
}
