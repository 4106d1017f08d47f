package io.keelson.server.outlet.notice;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import jakarta.mail.internet.MimeMessage;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A mail server of the test on a free port, with a certificate for localhost. */
public final class MailServer implements AutoCloseable {

    private static final String PASSWORD = "changeit";
    private static final Path CERTIFICATE = certificate();
    private static final Logger LOG = LoggerFactory.getLogger(MailServer.class);

    private final int port;
    private final String protocol;
    private GreenMail server;

    /** @param protocol {@code smtp}, or {@code smtps} for TLS from the beginning */
    public MailServer(String protocol) {
        this.protocol = protocol;
        server = started(0);
        port = server.getSmtps() != null && protocol.equals("smtps") ? server.getSmtps().getPort()
                : server.getSmtp().getPort();
    }

    private GreenMail started(int at) {
        CompletableFuture<GreenMail> started = new CompletableFuture<>();
        new Thread(new Quiet(), () -> started.completeAsync(() -> {
            GreenMail made = new GreenMail(new ServerSetup(at, "127.0.0.1", protocol));
            made.start();
            return made;
        }, Runnable::run), "mail-server").start();
        return started.join();
    }

    /** Threads of the mail server throw when a client refuses the certificate, and Awaitility fails other tests by that. */
    private static final class Quiet extends ThreadGroup {
        private Quiet() {
            super("mail-server");
        }

        @Override
        public void uncaughtException(Thread thread, Throwable e) {
            LOG.debug("the mail server ends a connection", e);
        }
    }

    /** A file with the certificate that the server shows. */
    public static Path authorities() {
        return CERTIFICATE;
    }

    private static Path certificate() {
        try {
            Path folder = Files.createTempDirectory("mail-server");
            Path store = folder.resolve("store.p12");
            Process made = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    "-genkeypair", "-alias", "localhost", "-keyalg", "EC", "-dname", "CN=localhost", "-ext",
                    "san=dns:localhost", "-storetype", "PKCS12", "-keystore", store.toString(), "-storepass",
                    PASSWORD).inheritIO().start();
            if (!made.waitFor(60, TimeUnit.SECONDS) || made.exitValue() != 0) {
                throw new IllegalStateException("keytool failed");
            }
            System.setProperty("greenmail.tls.keystore.file", store.toString());
            System.setProperty("greenmail.tls.keystore.password", PASSWORD);
            KeyStore keys = KeyStore.getInstance("PKCS12");
            try (InputStream file = Files.newInputStream(store)) {
                keys.load(file, PASSWORD.toCharArray());
            }
            return Files.writeString(folder.resolve("ca.pem"), "-----BEGIN CERTIFICATE-----\n"
                    + Base64.getMimeEncoder(64, new byte[] {'\n'})
                            .encodeToString(keys.getCertificate("localhost").getEncoded())
                    + "\n-----END CERTIFICATE-----\n", StandardCharsets.US_ASCII);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public int port() {
        return port;
    }

    /** Users that may sign in; with one, all must. */
    public void user(String name, String password) {
        server.setUser(name, password);
        server.getUserManager().setAuthRequired(true);
    }

    public List<MimeMessage> received() {
        return List.of(server.getReceivedMessages());
    }

    public void stop() {
        server.stop();
    }

    /** At the same port; it has forgotten its messages. */
    public void startAgain() {
        server = started(port);
    }

    @Override
    public void close() {
        server.stop();
    }
}
