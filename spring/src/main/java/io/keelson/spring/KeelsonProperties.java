package io.keelson.spring;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings {@code keelson.*}.
 *
 * @param url address of the server; null if {@code Keelson.connect()} finds it
 * @param apiKey null for the key in the data folder of a server on this machine
 * @param dataDir data folder of a server on this machine; null for {@code ~/.keelson}
 * @param timeout for connecting and for each answer
 */
@ConfigurationProperties("keelson")
public record KeelsonProperties(@Nullable String url, @Nullable String apiKey, @Nullable String dataDir,
        @DefaultValue("30s") Duration timeout, @DefaultValue WorkerProperties worker) {

    /**
     * The settings {@code keelson.worker.*}.
     *
     * @param enabled whether the application serves tools
     * @param id unique among the workers of a server; null for a random one
     * @param version of the application, in lists of workers; null if absent
     * @param slots steps at a time
     * @param lease time of a lease without heartbeats
     * @param poll how long a claim waits at the server
     * @param grace how long steps may take when the application stops
     */
    public record WorkerProperties(@DefaultValue("true") boolean enabled, @Nullable String id, @Nullable String version,
            @DefaultValue("8") int slots, @DefaultValue("30s") Duration lease, @DefaultValue("2s") Duration poll,
            @DefaultValue("20s") Duration grace) {}

    /** The variables of an environment, some replaced by settings. */
    Map<String, String> over(Map<String, String> environment) {
        Map<String, String> all = new LinkedHashMap<>(environment);
        put(all, "KEELSON_URL", url);
        put(all, "KEELSON_API_KEY", apiKey);
        put(all, "KEELSON_DATA_DIR", dataDir);
        return all;
    }

    private static void put(Map<String, String> all, String name, @Nullable String value) {
        if (value != null && !value.isBlank()) {
            all.put(name, value);
        }
    }

    /** All settings but the key. */
    @Override
    public String toString() {
        return "KeelsonProperties[url=" + url + ", dataDir=" + dataDir + ", timeout=" + timeout + ", worker=" + worker
                + "]";
    }
}
