package io.keelson.server.http;

import io.keelson.server.web.Dashboard;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where the API is served and within which bounds.
 *
 * @param host the address to listen at; loopback unless the operator configures another
 * @param port 0 for any free one
 * @param maxBodyBytes the largest body that is read
 * @param longestPoll how long a call may be held open at most while it waits for work or news
 * @param patience how long the head of a request may take to arrive, and how long a body or an answer may be slower than
 *     the least rate
 * @param connections how many there may be at a time; idle ones are closed for new ones then
 * @param grace how long requests under way may take to finish when the server stops
 * @param dashboard served below {@code /ui/}; null for none
 */
public record HttpOptions(String host, int port, int maxBodyBytes, Duration longestPoll, Duration patience,
        int connections, Duration grace, @Nullable Dashboard dashboard) {

    public static final HttpOptions DEFAULTS = new HttpOptions("127.0.0.1", 7331, 16 << 20, Duration.ofSeconds(60),
            Duration.ofSeconds(20), 4_096, Duration.ofSeconds(10), null);

    public HttpOptions withHost(String address) {
        return new HttpOptions(address, port, maxBodyBytes, longestPoll, patience, connections, grace, dashboard);
    }

    public HttpOptions withPort(int number) {
        return new HttpOptions(host, number, maxBodyBytes, longestPoll, patience, connections, grace, dashboard);
    }

    public HttpOptions withMaxBodyBytes(int bytes) {
        return new HttpOptions(host, port, bytes, longestPoll, patience, connections, grace, dashboard);
    }

    public HttpOptions withBounds(int most, Duration time) {
        return new HttpOptions(host, port, maxBodyBytes, longestPoll, time, most, grace, dashboard);
    }

    public HttpOptions withDashboard(@Nullable Dashboard files) {
        return new HttpOptions(host, port, maxBodyBytes, longestPoll, patience, connections, grace, files);
    }
}
