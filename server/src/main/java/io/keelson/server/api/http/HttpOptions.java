package io.keelson.server.api.http;

import io.keelson.server.api.web.Dashboard;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Address and bounds of the API.
 *
 * @param host the address to listen at; loopback unless the operator configures another
 * @param port 0 for any free one
 * @param maxBodyBytes the largest body that is read
 * @param longestPoll how long a call may be held open at most while it waits for work or news
 * @param requestTimeout how long the head of a request may take to arrive, and how long a body or an answer may be slower than
 *     the least rate
 * @param connections how many there may be at a time; idle ones are closed for new ones then
 * @param grace how long requests under way may take to finish when the server stops
 * @param dashboard served below {@code /ui/}; null if absent
 * @param publicUrl where browsers find the server; null for where it listens
 * @param version of the server, for clients
 */
public record HttpOptions(String host, int port, int maxBodyBytes, Duration longestPoll, Duration requestTimeout,
        int connections, Duration grace, @Nullable Dashboard dashboard, @Nullable URI publicUrl, String version) {

    public static final HttpOptions DEFAULTS = new HttpOptions("127.0.0.1", 7331, 16 << 20, Duration.ofSeconds(60),
            Duration.ofSeconds(20), 4_096, Duration.ofSeconds(10), null, null, "");

    public HttpOptions withHost(String address) {
        return new HttpOptions(address, port, maxBodyBytes, longestPoll, requestTimeout, connections, grace, dashboard,
                publicUrl, version);
    }

    public HttpOptions withPort(int number) {
        return new HttpOptions(host, number, maxBodyBytes, longestPoll, requestTimeout, connections, grace, dashboard,
                publicUrl, version);
    }

    public HttpOptions withBounds(int most, Duration time) {
        return new HttpOptions(host, port, maxBodyBytes, longestPoll, time, most, grace, dashboard, publicUrl, version);
    }

    public HttpOptions withDashboard(@Nullable Dashboard files) {
        return new HttpOptions(host, port, maxBodyBytes, longestPoll, requestTimeout, connections, grace, files,
                publicUrl, version);
    }

    public HttpOptions withPublicUrl(@Nullable URI url) {
        return new HttpOptions(host, port, maxBodyBytes, longestPoll, requestTimeout, connections, grace, dashboard,
                url, version);
    }

    public HttpOptions withVersion(String text) {
        return new HttpOptions(host, port, maxBodyBytes, longestPoll, requestTimeout, connections, grace, dashboard,
                publicUrl, text);
    }
}
