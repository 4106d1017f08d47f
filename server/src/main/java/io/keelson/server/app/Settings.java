package io.keelson.server.app;

import io.keelson.server.annex.effect.EffectSettings;
import io.keelson.server.annex.model.wiring.ModelSettings;
import io.keelson.server.annex.oidc.OidcSettings;
import io.keelson.server.annex.oidc.ServiceSettings;
import io.keelson.server.annex.rabbitmq.RabbitModule;
import io.keelson.server.annex.rabbitmq.RabbitSettings;
import io.keelson.server.annex.s3.S3Settings;
import io.keelson.server.api.http.support.Observed;
import io.keelson.server.engine.Engine;
import io.keelson.server.engine.upkeep.EventSweeper;
import io.keelson.server.engine.upkeep.RunArchiver;
import io.keelson.server.mission.plan.NameSuggestion;
import io.keelson.server.outlet.notice.Mailer;
import io.keelson.server.outlet.notice.SmtpSettings;
import io.keelson.server.tenant.auth.ApiKeyFormat;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.secret.SealingKey;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How this process is set up; {@link Setting} describes each value. Its text form shows no secret.
 *
 * @param dataDir absolute
 * @param databaseUrl null for the embedded PostgreSQL
 * @param databaseConnections most connections of the two pools together
 * @param artifacts bounds of steps' files
 * @param archive when runs are archived
 * @param triggerDays days for which deliveries of triggers are kept
 * @param initialCredits credits of the default workspace at the first start; 0 if absent
 * @param commands settings of effect commands
 * @param models the configuration of the server's models
 * @param telemetry settings of OpenTelemetry
 * @param rabbit the broker that tells workers of their work; null if absent
 * @param oidc the provider at which people sign in; null if absent
 * @param services tokens of services that the API accepts; null if absent
 * @param notifications settings of messages for people
 */
public record Settings(Path dataDir, @Nullable String databaseUrl, int databaseConnections, Http http, Client client,
        Keys keys, Tools tools, Execution execution, Artifacts artifacts, EventSweeper.Ages events,
        RunArchiver.Ages archive,
        int triggerDays, BigDecimal initialCredits, EffectSettings commands, ModelSettings models, Telemetry telemetry,
        Log log, @Nullable RabbitSettings rabbit, @Nullable OidcSettings oidc,
        @Nullable ServiceSettings services, Notifications notifications) {

    /**
     * Settings of messages for people.
     *
     * @param mail the mail server; null if absent
     * @param linkTime how long a link for an answer works
     */
    public record Notifications(@Nullable SmtpSettings mail, Duration linkTime) {}

    /**
     * Settings of the API.
     *
     * @param port 0 for a free one
     * @param connections at a time
     * @param requestTimeout for the head of a request, and for each stretch of its body
     * @param metricsAccess who is shown the metrics without a key
     * @param dashboard whether the dashboard is served
     * @param webFolder where the dashboard's files are read instead of the jar; absolute, null for the jar
     * @param publicUrl where browsers find the server; null for where it listens
     * @param fourEyes workspaces in which the submitter of a run does not approve, by name; {@code *} for all
     * @param twoPeople workspaces in which two people approve each question of new runs, likewise
     */
    public record Http(String host, int port, int connections, Duration requestTimeout,
            Observed.MetricsAccess metricsAccess, boolean dashboard, @Nullable Path webFolder,
            @Nullable URI publicUrl, Set<String> fourEyes, Set<String> twoPeople) {

        public Http {
            fourEyes = Set.copyOf(fourEyes);
            twoPeople = Set.copyOf(twoPeople);
        }

        /** These settings at another address; port 0 for a free one. */
        public Http at(String otherHost, int otherPort) {
            return new Http(otherHost, otherPort, connections, requestTimeout, metricsAccess, dashboard, webFolder,
                    publicUrl, fourEyes, twoPeople);
        }
    }

    /**
     * Settings of the command line.
     *
     * @param url the server's URL; null to read it from the data folder
     * @param apiKey the API key; null to read it from the data folder
     */
    public record Client(@Nullable String url, @Nullable String apiKey) {}

    /**
     * Settings of the server's own keys.
     *
     * @param bootstrap known to the server from its start; null to make one and keep it in the data folder
     * @param secrets what secrets are sealed under, the present key first; empty for the one of the data folder
     */
    public record Keys(Bootstrap.@Nullable GivenKey bootstrap, List<SealingKey> secrets) {

        public Keys {
            secrets = List.copyOf(secrets);
        }

        /** The bootstrap key; null where none is set. */
        public @Nullable String bootstrapText() {
            return bootstrap == null ? null : bootstrap.text();
        }
    }

    /**
     * Permissions of tools.
     *
     * @param programs that they may start
     * @param privateAddresses whether they reach private networks
     * @param mcpServers file with commands that workspaces may start MCP servers with; null if absent
     * @param parkAfter time after which a step's program is ended whose call waits for a person
     */
    public record Tools(Folders folders, Set<String> programs, boolean privateAddresses, @Nullable Path mcpServers,
            Duration parkAfter) {

        public Tools {
            programs = Set.copyOf(programs);
        }
    }

    /**
     * Settings of executions.
     *
     * @param slots steps that run here at a time, but for those that wait; 0 if absent
     * @param waitingSlots steps that wait here for other systems at a time; 0 if absent
     * @param modelCalls requests to models under way here at a time; 0 if absent
     * @param runComputation the time that expressions, schemas and templates of one run may compute on this server
     * @param lease how long a step is kept for a worker that says nothing
     * @param chains whether steps without effects run before a commit records the end of the step before them
     */
    public record Execution(int slots, int waitingSlots, int modelCalls, Duration runComputation, Duration lease,
            Engine.Chains chains) {}

    /** Settings of the log. */
    public record Log(LogFormat format, LogLevel level) {}

    /**
     * Folders of tools; all paths are absolute.
     *
     * @param allowed to every workspace that has no folders of its own
     * @param ofUser also allowed to the first workspace: folders of the user who runs the server
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
     * Limits and retention of artifacts.
     *
     * @param maxBytes of one of them
     * @param maxBytesOfRun of all of a run together
     * @param retention from the end of its run, where its step says nothing
     * @param documents whether the status documents of runs are kept with them
     * @param place in the object store; null for the folder
     * @param access to an object store, also if artifacts are in the folder
     * @param links how long a link to content in the object store works; zero: no links
     */
    public record Artifacts(long maxBytes, long maxBytesOfRun, Duration retention, boolean documents,
            S3Settings.@Nullable Location place, S3Settings.Access access, Duration links) {

        /** The object store; null for the folder. */
        public @Nullable S3Settings store() {
            return place == null ? null : new S3Settings(place, access);
        }
    }

    /** How a log line looks. */
    public enum LogFormat {
        TEXT, JSON
    }

    /** The least grave entries that are logged. */
    public enum LogLevel {
        ERROR, WARN, INFO, DEBUG
    }

    /**
     * Settings of traces.
     *
     * @param variables settings of OpenTelemetry, from the environment
     * @param genAi whether spans follow the conventions for generative AI
     */
    public record Telemetry(Map<String, String> variables, GenAi genAi) {
        public Telemetry {
            variables = Map.copyOf(variables);
        }
    }

    /** Whether spans follow OpenTelemetry's conventions for generative AI. */
    public enum GenAi {
        OFF, LATEST
    }

    /**
     * Reads the environment, and for unset variables the file that it names.
     *
     * @param home replaces {@code ~}
     * @param workingFolder base of relative paths
     * @throws InvalidSettingsException listing every unknown name and every bad value
     */
    public static Settings load(Map<String, String> environment, Path home, Path workingFolder)
            throws InvalidSettingsException {
        return new SettingsReader(environment, home, workingFolder).read();
    }

    /** The settings of a process of this user, called in its folder. */
    public static Settings load(Map<String, String> environment) throws InvalidSettingsException {
        return load(environment, home(environment), Path.of("").toAbsolutePath());
    }

    /** A line for each {@code KEELSON_} variable that is no setting, with the name that may have been meant. */
    public static List<String> misspelt(Map<String, String> environment) {
        List<String> known = Stream.concat(Arrays.stream(Setting.values()).map(Enum::name),
                Stream.of("KEELSON_JAVA_HOME", "KEELSON_JAVA_OPTS")).toList();
        return environment.keySet().stream().filter(name -> name.startsWith("KEELSON_") && !known.contains(name))
                .sorted()
                .map(name -> "warning: " + name + " is no setting and is ignored" + hint(name, known))
                .toList();
    }

    private static String hint(String name, List<String> known) {
        String hint = NameSuggestion.hintByWords(name, known);
        return hint.isEmpty() ? "; docs/reference/configuration.md lists the settings" : hint;
    }

    /** The folder of {@code HOME}, as for every other program; otherwise that of the password file. */
    private static Path home(Map<String, String> environment) {
        String home = environment.getOrDefault("HOME", "");
        return Path.of(home.startsWith("/") ? home : System.getProperty("user.home"));
    }

    /** A text that may be a bootstrap key. */
    public static String newBootstrapKey() {
        return ApiKeyFormat.generate();
    }

    /** The broker's address; null if absent. */
    public @Nullable URI broker() {
        return rabbit == null ? null : rabbit.broker();
    }

    /**
     * Connects to the broker.
     *
     * @return why that is impossible; null if it is possible, and without a broker
     */
    public @Nullable String brokerProblem() {
        try {
            if (rabbit != null) {
                RabbitModule.check(rabbit);
            }
            return null;
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** Host and port of the mail server; null without one. */
    public @Nullable String mailServer() {
        SmtpSettings mail = notifications.mail();
        return mail == null ? null : mail.host() + ":" + mail.port();
    }

    /**
     * Connects to the mail server, signs in and sends nothing.
     *
     * @return why that is impossible; null if it is possible, and without a mail server
     */
    public @Nullable String mailProblem() {
        SmtpSettings mail = notifications.mail();
        try {
            if (mail != null) {
                new Mailer(mail).check();
            }
            return null;
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** These settings on another port; 0 for a free one. */
    public Settings withHttp(String host, int port) {
        return with(http.at(host, port), tools, execution);
    }

    /** These settings for a server that executes no steps. */
    public Settings withoutExecutors() {
        return with(http, tools, new Execution(0, 0, 0, execution.runComputation, execution.lease, execution.chains));
    }

    /** These settings with other folders of the user. */
    public Settings withFoldersOfUser(List<Path> ofUser) {
        Folders others = new Folders(tools.folders.allowed, ofUser, tools.folders.keyFiles);
        return with(http, new Tools(others, tools.programs, tools.privateAddresses, tools.mcpServers,
                tools.parkAfter), execution);
    }

    private Settings with(Http otherHttp, Tools otherTools, Execution otherExecution) {
        return new Settings(dataDir, databaseUrl, databaseConnections, otherHttp, client, keys, otherTools,
                otherExecution, artifacts, events, archive, triggerDays, initialCredits, commands, models, telemetry,
                log,
                rabbit, oidc, services, notifications);
    }

    @Override
    public String toString() {
        return "Settings[dataDir=" + dataDir + ", http=" + http + ", database="
                + (databaseUrl == null ? "embedded" : "external") + ", url=" + client.url + ", tools=" + tools
                + ", execution=" + execution + ", initialCredits=" + initialCredits + "]";
    }
}
