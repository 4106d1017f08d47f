package io.keelson.server.annex.rabbitmq;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Optional;

/**
 * The broker. Its text form shows no password.
 *
 * @param broker {@code amqp://user:password@host:port/vhost}, or {@code amqps:} for TLS
 * @param repeat time after which a message about work that is still unclaimed is sent again
 */
public record RabbitSettings(URI broker, Duration repeat) {

    /** The address in a text; empty for other texts. */
    public static Optional<URI> parse(String text) {
        try {
            URI uri = new URI(text);
            return uri.getHost() != null && text.matches("amqps?://.*") ? Optional.of(uri) : Optional.empty();
        } catch (URISyntaxException e) {
            return Optional.empty();
        }
    }

    /** Host and port, for logs. */
    public String place() {
        return broker.getHost() + (broker.getPort() < 0 ? "" : ":" + broker.getPort());
    }

    @Override
    public String toString() {
        return "RabbitSettings[" + place() + "]";
    }
}
