package io.keelson.server;

import io.keelson.server.auth.ApiKeyFormat;
import io.keelson.server.auth.Bootstrap;
import io.keelson.server.effect.EndpointAdapter;
import io.keelson.server.engine.upkeep.EventSweeper;
import io.keelson.server.http.support.Observed;
import io.keelson.server.plan.NameSuggestion;
import io.keelson.server.secret.SealingKey;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How this process is set up; {@link Setting} says what each value means. Its text form shows no secret.
 *
 * @param dataDir absolute
 * @param httpPort 0 for a free one
 * @param http bounds of what clients may hold
 * @param databaseUrl null for the embedded PostgreSQL
 * @param url where the command line finds its server; null for the one of the data folder
 * @param apiKey what the command line shows to the server; null for the key of the data folder
 * @param folders what the tools of this server may read
 * @param lease how long a step is kept for a worker that says nothing
 * @param bootstrapKey known to the server from its start; null to make one and keep it in the data folder
 * @param artifacts bounds of what steps leave behind
 * @param initialCredits credits that the default workspace is given at the first start; 0 for none
 * @param runComputation how long the expressions and the like of a run may compute here
 * @param executorSlots steps that run here at a time; 0 for none
 * @param secretKeys what secrets are sealed under, the present key first; empty for the one of the data folder
 * @param commands how the world outside is reached
 * @param metricsAccess who is shown them without a key
 * @param telemetry what the environment says to OpenTelemetry
 */
public record Settings(Path dataDir, String httpHost, int httpPort, Http http, @Nullable String databaseUrl,
        @Nullable String url,
        @Nullable String apiKey, Bootstrap.@Nullable GivenKey bootstrapKey, Folders folders,
        Set<String> allowedPrograms, boolean allowPrivateAddresses,
        int executorSlots, Duration runComputation, Duration lease, Artifacts artifacts, EventSweeper.Ages events,
        BigDecimal initialCredits,
        List<SealingKey> secretKeys, Commands commands, Observed.MetricsAccess metricsAccess,
        Map<String, String> telemetry,
        LogFormat logFormat,
        LogLevel logLevel) {

    /**
     * Of files that tools read; all absolute.
     *
     * @param allowed to every workspace that has no folders of its own
     * @param ofUser allowed to the first workspace besides: those of the user in whose process the server lives
     * @param keyFiles files with keys and passwords, which no tool reads
     */
    public record Folders(List<Path> allowed, List<Path> ofUser, List<Path> keyFiles) {

        public Folders {
            allowed = List.copyOf(allowed);
            ofUser = List.copyOf(ofUser);
            keyFiles = List.copyOf(keyFiles);
        }
    }

    /**
     * Of connections and requests.
     *
     * @param connections at a time
     * @param patience for the head of a request, and for each stretch of its body
     */
    public record Http(int connections, Duration patience) {}

    /**
     * Of files that steps leave behind.
     *
     * @param maxBytes of one of them
     * @param maxBytesOfRun of all of a run together
     * @param retention from the end of its run, where its step says nothing
     * @param documents whether the status documents of runs are kept beside them
     */
    public record Artifacts(long maxBytes, long maxBytesOfRun, Duration retention, boolean documents) {}

    /**
     * Of commands to the world outside.
     *
     * @param url of the provider, without a trailing slash; null for deployments and orders on paper
     * @param token that it is shown; null for none
     * @param idempotent whether it does once what comes twice under one key
     * @param timeout of one call
     * @param types that users have registered
     */
    public record Commands(@Nullable String url, @Nullable String token, boolean idempotent, Duration timeout,
            List<EndpointAdapter.Endpoint> types) {}

    /** How a log line looks. */
    public enum LogFormat {
        TEXT, JSON
    }

    /** The least grave entries that are logged. */
    public enum LogLevel {
        ERROR, WARN, INFO, DEBUG
    }

    public Settings {
        allowedPrograms = Set.copyOf(allowedPrograms);
        secretKeys = List.copyOf(secretKeys);
        telemetry = Map.copyOf(telemetry);
    }

    /**
     * Reads the environment, and the file that it names under what it does not set.
     *
     * @param home what {@code ~} means
     * @param workingFolder what relative paths are relative to
     * @throws InvalidSettingsException listing every unknown name and every bad value
     */
    public static Settings load(Map<String, String> environment, Path home, Path workingFolder)
            throws InvalidSettingsException {
        return new SettingsReader(environment, home, workingFolder).read();
    }

    /** Those of a process of this user, called in its folder. */
    public static Settings load(Map<String, String> environment) throws InvalidSettingsException {
        return load(environment, home(environment), Path.of("").toAbsolutePath());
    }

    /** A line for each {@code KEELSON_} variable that is no setting, with the name that may have been meant. */
    public static List<String> misspelt(Map<String, String> environment) {
        List<String> known = Stream.concat(Arrays.stream(Setting.values()).map(Enum::name),
                Stream.of("KEELSON_JAVA_HOME", "KEELSON_JAVA_OPTS")).toList();
        return environment.keySet().stream().filter(name -> name.startsWith("KEELSON_") && !known.contains(name))
                .sorted()
                .map(name -> "warning: " + name + " is no setting and is ignored" + NameSuggestion.hint(name, known))
                .toList();
    }

    /** What {@code HOME} says, as for every other program; else what the password file says. */
    private static Path home(Map<String, String> environment) {
        String home = environment.getOrDefault("HOME", "");
        return Path.of(home.startsWith("/") ? home : System.getProperty("user.home"));
    }

    /** A text that may be a bootstrap key. */
    public static String newBootstrapKey() {
        return ApiKeyFormat.generate();
    }

    /** The bootstrap key; null where none is set. */
    public @Nullable String bootstrapKeyText() {
        return bootstrapKey == null ? null : bootstrapKey.text();
    }

    /** The same on another port; 0 for a free one. */
    public Settings withHttp(String host, int port) {
        return new Settings(dataDir, host, port, http, databaseUrl, url, apiKey, bootstrapKey, folders, allowedPrograms,
                allowPrivateAddresses, executorSlots, runComputation, lease, artifacts, events, initialCredits,
                secretKeys,
                commands, metricsAccess,
                telemetry,
                logFormat,
                logLevel);
    }

    /** The same with another number of steps at a time; 0 for none. */
    public Settings withExecutors(int count) {
        return new Settings(dataDir, httpHost, httpPort, http, databaseUrl, url, apiKey, bootstrapKey, folders,
                allowedPrograms,
                allowPrivateAddresses, count, runComputation, lease, artifacts, events, initialCredits, secretKeys,
                commands, metricsAccess,
                telemetry,
                logFormat,
                logLevel);
    }

    /** The same where the user's folders are these. */
    public Settings withFoldersOfUser(List<Path> ofUser) {
        return new Settings(dataDir, httpHost, httpPort, http, databaseUrl, url, apiKey, bootstrapKey,
                new Folders(folders.allowed(), ofUser, folders.keyFiles()), allowedPrograms,
                allowPrivateAddresses, executorSlots, runComputation, lease, artifacts, events, initialCredits,
                secretKeys,
                commands, metricsAccess,
                telemetry,
                logFormat,
                logLevel);
    }

    /** The same with another least grave level of log entries. */
    public Settings withLogLevel(LogLevel level) {
        return new Settings(dataDir, httpHost, httpPort, http, databaseUrl, url, apiKey, bootstrapKey, folders,
                allowedPrograms,
                allowPrivateAddresses, executorSlots, runComputation, lease, artifacts, events, initialCredits,
                secretKeys,
                commands, metricsAccess,
                telemetry,
                logFormat, level);
    }

    @Override
    public String toString() {
        return "Settings[dataDir=" + dataDir + ", http=" + httpHost + ":" + httpPort + ", database="
                + (databaseUrl == null ? "embedded" : "external") + ", url=" + url + ", allowedFolders="
                + folders.allowed() + ", allowedPrograms=" + allowedPrograms + ", allowPrivateAddresses="
                + allowPrivateAddresses + ", executorSlots=" + executorSlots + ", lease=" + lease + ", initialCredits="
                + initialCredits
                + "]";
    }
}
