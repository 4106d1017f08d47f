package io.keelson.server.outlet.webhook;

import io.keelson.server.outlet.notice.MailAddress;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Forms of deliveries. */
public enum EndpointFormat {
    /** Signed JSON of an event. */
    STANDARD,
    /** A message for an incoming webhook of Slack. */
    SLACK,
    /** A message for a workflow of Teams. */
    TEAMS,
    /** A mail to one mailbox. */
    MAIL;

    public String wire() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether people read its deliveries. */
    boolean forPeople() {
        return this != STANDARD;
    }

    /**
     * The format of a new endpoint.
     *
     * @param given null for that of the address
     * @return null if format and address do not fit
     */
    public static @Nullable EndpointFormat of(@Nullable String given, String url) {
        boolean mail = MailAddress.ofUrl(url) != null;
        EndpointFormat format = given == null ? mail ? MAIL : STANDARD : valueOf(given.toUpperCase(Locale.ROOT));
        return (format == MAIL) == mail ? format : null;
    }
}
