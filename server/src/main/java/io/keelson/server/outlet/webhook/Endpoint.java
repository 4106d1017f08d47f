package io.keelson.server.outlet.webhook;

import io.keelson.server.base.outbound.OutboundClient;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A receiver of events.
 *
 * @param events names of topics or of types of events; {@code *} for all
 * @param channel only runs that name it in {@code config.notifications.channel}; null for all runs
 * @param disabledReason {@code asked}, {@code gone} (it answered 410) or {@code failing} (it refused all deliveries for
 *                       too long); null while it is enabled
 * @param failingSince the first failed attempt since the last success; null if absent
 * @param lastError of the last attempt; null after a success
 * @param pending number of waiting deliveries
 * @param replaying whether earlier events are still being queued
 * @param previousUntil end of the previous secret's validity; null if absent
 */
public record Endpoint(UUID id, UUID workspaceId, String url, @Nullable String description, List<String> events,
        @Nullable String channel, boolean enabled, @Nullable String disabledReason,
        @Nullable Instant failingSince, @Nullable String lastError, long pending, boolean replaying,
        @Nullable Instant previousUntil, Instant createdAt, Instant updatedAt) {

    /** The part that a client sets; null keeps the value, and means none in a new endpoint. */
    public record Spec(@Nullable String url, @Nullable String description, boolean noDescription,
            @Nullable List<String> events, @Nullable String channel, boolean noChannel, @Nullable Boolean enabled) {}

    /** With a new secret, which is shown only once. */
    public record WithSecret(Endpoint endpoint, String secret) {}

    /** Whether a request can be sent to it at all. */
    public static boolean usable(String url) {
        try {
            URI uri = new URI(url);
            return uri.getScheme() != null
                    && List.of("http", "https").contains(uri.getScheme().toLowerCase(Locale.ROOT))
                    && uri.getHost() != null && uri.getRawUserInfo() == null && uri.getRawFragment() == null
                    && OutboundClient.understands(url);
        } catch (URISyntaxException e) {
            return false;
        }
    }
}
