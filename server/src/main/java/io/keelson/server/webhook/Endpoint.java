package io.keelson.server.webhook;

import io.keelson.server.outbound.OutboundClient;
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
 * @param disabledReason {@code asked}, {@code gone} (it answered 410) or {@code failing} (it took nothing for too long); null
 *     while it is enabled
 * @param failingSince when the first attempt failed since the last one that was taken; null where none has
 * @param lastError why the last attempt failed; null where none has since
 * @param pending how many deliveries wait
 * @param replaying whether earlier events are still being put in line
 * @param previousUntil until when the secret before counts, too; null where there is none
 */
public record Endpoint(UUID id, UUID workspaceId, String url, @Nullable String description, List<String> events,
        @Nullable String channel, boolean enabled, @Nullable String disabledReason,
        @Nullable Instant failingSince, @Nullable String lastError, long pending, boolean replaying,
        @Nullable Instant previousUntil, Instant createdAt, Instant updatedAt) {

    /** What a client sets; null leaves what is there, and stands for nothing in a new one. */
    public record Spec(@Nullable String url, @Nullable String description, boolean noDescription,
            @Nullable List<String> events, @Nullable String channel, boolean noChannel, @Nullable Boolean enabled) {}

    /** With a new secret: the only time that it is shown. */
    public record WithSecret(Endpoint endpoint, String secret) {}

    /** Whether a request to it can be sent at all, whoever may be there. */
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
