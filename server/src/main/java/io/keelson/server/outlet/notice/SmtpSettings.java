package io.keelson.server.outlet.notice;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The server that takes mail.
 *
 * @param user null for a server without a sign-in
 * @param password of the user; null without one
 * @param from address of the sender
 * @param authorities file with the certificates (PEM) of authorities that the server's certificate is checked against; null for
 *            the authorities of the JVM
 */
public record SmtpSettings(String host, int port, Tls tls, @Nullable String user, @Nullable String password,
        String from, @Nullable Path authorities) {

    /** The encryption of the connection. */
    public enum Tls {
        /** A connection without encryption is upgraded before anything else is sent. */
        STARTTLS,
        /** Encrypted from the beginning. */
        TLS,
        /** Not encrypted; on this machine only. */
        NONE
    }

    /** Whether a host is this machine by its name or address. */
    public static boolean isHere(String host) {
        return host.equals("localhost") || host.equals("::1") || host.matches("127(\\.\\d{1,3}){3}");
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "SMTP " + host + ":" + port + " " + tls;
    }
}
