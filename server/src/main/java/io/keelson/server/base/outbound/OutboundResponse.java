package io.keelson.server.base.outbound;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A response of any status.
 *
 * @param headers names in lower case; several values of one name joined by {@code ", "}, values of {@link #COOKIES},
 *            which contain commas, by line feeds
 */
public record OutboundResponse(int status, Map<String, String> headers, byte[] body) {

    public static final String COOKIES = "set-cookie";

    /** A header's value by its lower-case name, null when absent. */
    public @Nullable String header(String name) {
        return headers.get(name);
    }
}
