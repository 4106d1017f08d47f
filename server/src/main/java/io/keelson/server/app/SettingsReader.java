package io.keelson.server.app;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.annex.effect.EffectSettings;
import io.keelson.server.annex.model.wiring.ModelSettings;
import io.keelson.server.annex.oidc.OidcSettings;
import io.keelson.server.annex.oidc.RoleGrants;
import io.keelson.server.annex.oidc.ServiceSettings;
import io.keelson.server.annex.rabbitmq.RabbitSettings;
import io.keelson.server.annex.s3.S3Settings;
import io.keelson.server.api.http.support.Observed;
import io.keelson.server.base.problem.FileProblems;
import io.keelson.server.engine.Engine;
import io.keelson.server.engine.upkeep.EventSweeper;
import io.keelson.server.engine.upkeep.RunArchiver;
import io.keelson.server.mission.plan.NameSuggestion;
import io.keelson.server.outlet.notice.MailAddress;
import io.keelson.server.outlet.notice.SmtpSettings;
import io.keelson.server.tenant.auth.ApiKeyFormat;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Role;
import io.keelson.server.tenant.money.CreditAmounts;
import io.keelson.server.tenant.secret.SealingKey;
import java.io.File;
import java.io.IOException;
import java.io.Reader;
import java.math.BigDecimal;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** From text to {@link Settings}; collects every problem before it gives up. */
final class SettingsReader {

    private static final int MAX_PORT = 65_535;
    private static final int MIN_CONNECTIONS = 16;
    private static final int MAX_CONNECTIONS = 1_000_000;
    private static final int MIN_DATABASE_CONNECTIONS = 4;
    private static final int MAX_DATABASE_CONNECTIONS = 1_000;
    private static final int MAX_EXECUTOR_SLOTS = 10_000;
    private static final int MAX_WAITING_SLOTS = 100_000;
    private static final int MAX_RUN_COMPUTE_SECONDS = 86_400;
    private static final int MAX_LEASE_SECONDS = 3_600;
    private static final int MAX_PARK_SECONDS = 600;
    private static final int MAX_CHAIN_MS = 1_000;
    private static final int MAX_ARTIFACT_MIB = 10_240;
    private static final int MAX_RUN_ARTIFACTS_MIB = 1_048_576;
    private static final int MAX_LINK_SECONDS = 3_600;
    private static final int MAX_LINK_HOURS = 720;
    private static final int MAX_CALL_SECONDS = 300;
    private static final int MAX_RETENTION_DAYS = 36_500;
    private static final int MIN_ARCHIVE_DAYS = 2;

    /** The JVM's home directory of a user without an entry in the password file. */
    private static final String NO_HOME = "?";
    private static final Pattern WEB = Pattern.compile("https?://[^\\s?#@]+");

    private final Map<String, String> environment;
    private final Path home;
    private final Path workingFolder;
    private final List<PlanProblem> problems = new ArrayList<>();
    private final Map<String, String> file = new HashMap<>();

    SettingsReader(Map<String, String> environment, Path home, Path workingFolder) {
        this.environment = environment;
        this.home = home;
        this.workingFolder = workingFolder;
    }

    Settings read() throws InvalidSettingsException {
        String config = text(Setting.KEELSON_CONFIG);
        if (config != null) {
            readFile(path(Setting.KEELSON_CONFIG, config));
        }
        Settings settings = new Settings(path(Setting.KEELSON_DATA_DIR, required(Setting.KEELSON_DATA_DIR)),
                databaseUrl(),
                number(Setting.KEELSON_DATABASE_CONNECTIONS, MIN_DATABASE_CONNECTIONS, MAX_DATABASE_CONNECTIONS),
                new Settings.Http(required(Setting.KEELSON_HTTP_HOST), number(Setting.KEELSON_HTTP_PORT, 0, MAX_PORT),
                        number(Setting.KEELSON_HTTP_CONNECTIONS, MIN_CONNECTIONS, MAX_CONNECTIONS),
                        seconds(Setting.KEELSON_REQUEST_TIMEOUT_SECONDS, MAX_CALL_SECONDS),
                        choice(Setting.KEELSON_METRICS_ACCESS, Observed.MetricsAccess.values(),
                                Observed.MetricsAccess::valueOf),
                        flag(Setting.KEELSON_DASHBOARD), webFolder(), publicUrl(),
                        list(Setting.KEELSON_FOUR_EYES, ",").collect(Collectors.toSet()),
                        list(Setting.KEELSON_TWO_PEOPLE, ",").collect(Collectors.toSet())),
                new Settings.Client(url(), text(Setting.KEELSON_API_KEY)),
                new Settings.Keys(bootstrapKey(), Stream.concat(secretKeys(Setting.KEELSON_SECRET_KEY),
                        secretKeys(Setting.KEELSON_SECRET_KEYS_PREVIOUS)).toList()),
                new Settings.Tools(folders(config),
                        list(Setting.KEELSON_ALLOWED_PROGRAMS, ",").collect(Collectors.toSet()),
                        flag(Setting.KEELSON_ALLOW_PRIVATE_ADDRESSES), mcpServers(),
                        seconds(Setting.KEELSON_PARK_SECONDS, MAX_PARK_SECONDS)),
                new Settings.Execution(number(Setting.KEELSON_EXECUTOR_SLOTS, 0, MAX_EXECUTOR_SLOTS),
                        number(Setting.KEELSON_WAITING_SLOTS, 0, MAX_WAITING_SLOTS),
                        number(Setting.KEELSON_MODEL_CALLS, 0, MAX_WAITING_SLOTS),
                        seconds(Setting.KEELSON_RUN_COMPUTE_SECONDS, MAX_RUN_COMPUTE_SECONDS),
                        seconds(Setting.KEELSON_LEASE_SECONDS, MAX_LEASE_SECONDS),
                        new Engine.Chains(oneOf(Setting.KEELSON_CHAINS, "on", "off").equals("on"),
                                Duration.ofMillis(number(Setting.KEELSON_CHAIN_MS, 0, MAX_CHAIN_MS)))),
                new Settings.Artifacts((long) number(Setting.KEELSON_ARTIFACT_MAX_MIB, 1, MAX_ARTIFACT_MIB) << 20,
                        (long) number(Setting.KEELSON_RUN_ARTIFACTS_MAX_MIB, 1, MAX_RUN_ARTIFACTS_MIB) << 20,
                        days(Setting.KEELSON_ARTIFACT_RETENTION_DAYS), flag(Setting.KEELSON_STATUS_DOCUMENTS),
                        parsed(Setting.KEELSON_ARTIFACTS, S3Settings.Location::parse,
                                "s3://bucket or s3://bucket/prefix"),
                        objectStore(),
                        Duration.ofSeconds(number(Setting.KEELSON_ARTIFACT_LINKS, 0, MAX_LINK_SECONDS))),
                new EventSweeper.Ages(days(Setting.KEELSON_EVENTS_HOT_DAYS),
                        days(Setting.KEELSON_EVENTS_ARCHIVE_DAYS)),
                archive(),
                (int) days(Setting.KEELSON_TRIGGER_DELIVERY_DAYS).toDays(), credits(Setting.KEELSON_INITIAL_CREDITS),
                commands(),
                models(),
                new Settings.Telemetry(environment.entrySet().stream().filter(each -> each.getKey().startsWith("OTEL_"))
                        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)),
                        choice(Setting.KEELSON_TRACES_GENAI, Settings.GenAi.values(), Settings.GenAi::valueOf)),
                new Settings.Log(
                        choice(Setting.KEELSON_LOG_FORMAT, Settings.LogFormat.values(), Settings.LogFormat::valueOf),
                        choice(Setting.KEELSON_LOG_LEVEL, Settings.LogLevel.values(), Settings.LogLevel::valueOf)),
                broker(), oidc(), services(),
                new Settings.Notifications(mail(),
                        Duration.ofHours(number(Setting.KEELSON_ANSWER_LINK_HOURS, 1, MAX_LINK_HOURS))));
        if (!problems.isEmpty()) {
            throw new InvalidSettingsException(problems);
        }
        return settings;
    }

    private void readFile(Path path) {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(path)) {
            properties.load(reader);
        } catch (IOException | IllegalArgumentException e) {
            problems.add(new PlanProblem("CONFIG_FILE_UNREADABLE", Setting.KEELSON_CONFIG.name(),
                    "cannot read the settings file " + path + " that KEELSON_CONFIG names: "
                            + (e instanceof IOException failed ? FileProblems.reason(failed) : e.getMessage())));
        }
        for (String name : new TreeSet<>(properties.stringPropertyNames())) {
            if (Setting.named(name).filter(setting -> setting != Setting.KEELSON_CONFIG).isPresent()) {
                file.put(name, properties.getProperty(name));
            } else {
                problems.add(new PlanProblem("SETTING_UNKNOWN", name, "the settings file " + path + " sets " + name
                        + ", which does not exist there" + NameSuggestion.hintByWords(name, knownInFile())
                        + "; known are "
                        + String.join(", ", knownInFile())));
            }
        }
    }

    /** The wrong value is not shown: it may be a mistyped key. */
    private Bootstrap.@Nullable GivenKey bootstrapKey() {
        int days = number(Setting.KEELSON_BOOTSTRAP_KEY_DAYS, 0, MAX_RETENTION_DAYS);
        String text = text(Setting.KEELSON_BOOTSTRAP_KEY);
        String named = text(Setting.KEELSON_BOOTSTRAP_KEY_FILE);
        if (named != null && text != null) {
            refuse(Setting.KEELSON_BOOTSTRAP_KEY_FILE, named, "empty where KEELSON_BOOTSTRAP_KEY is set");
        } else if (named != null) {
            text = content(Setting.KEELSON_BOOTSTRAP_KEY_FILE, path(Setting.KEELSON_BOOTSTRAP_KEY_FILE, named));
        }
        if (text != null && !ApiKeyFormat.wellFormed(text)) {
            refuse(Setting.KEELSON_BOOTSTRAP_KEY, "(hidden)", "a key as `keelson keys generate` makes it");
        }
        return text == null ? null : new Bootstrap.GivenKey(text, days == 0 ? null : Duration.ofDays(days));
    }

    private RunArchiver.Ages archive() {
        Duration after = daysOrOff(Setting.KEELSON_ARCHIVE_AFTER);
        Duration delete = daysOrOff(Setting.KEELSON_ARCHIVE_DELETE_AFTER);
        if (after != null && delete != null && delete.compareTo(after) <= 0) {
            refuse(Setting.KEELSON_ARCHIVE_DELETE_AFTER, required(Setting.KEELSON_ARCHIVE_DELETE_AFTER),
                    "more days than KEELSON_ARCHIVE_AFTER");
        }
        return new RunArchiver.Ages(after, delete);
    }

    /** Idempotency keys of a run's creation count for a day. */
    private @Nullable Duration daysOrOff(Setting setting) {
        String text = required(setting);
        if (text.equals("off")) {
            return null;
        }
        try {
            int days = Integer.parseInt(text);
            if (days >= MIN_ARCHIVE_DAYS && days <= MAX_RETENTION_DAYS) {
                return Duration.ofDays(days);
            }
        } catch (NumberFormatException e) {
            // refused below, like a number out of range
        }
        refuse(setting, text, "off, or a whole number of days from " + MIN_ARCHIVE_DAYS + " to " + MAX_RETENTION_DAYS);
        return null;
    }

    private @Nullable String content(Setting setting, Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            refuse(setting, file.toString(), "a file that can be read: " + FileProblems.reason(e));
            return null;
        }
    }

    private Settings.Folders folders(@Nullable String config) {
        List<Path> keyFiles = new ArrayList<>(List.of(home.resolve(".pgpass")));
        if (config != null) {
            keyFiles.add(path(Setting.KEELSON_CONFIG, config));
        }
        String bootstrapKey = text(Setting.KEELSON_BOOTSTRAP_KEY_FILE);
        if (bootstrapKey != null) {
            keyFiles.add(path(Setting.KEELSON_BOOTSTRAP_KEY_FILE, bootstrapKey));
        }
        String storeSecret = text(Setting.KEELSON_S3_SECRET_KEY_FILE);
        if (storeSecret != null) {
            keyFiles.add(path(Setting.KEELSON_S3_SECRET_KEY_FILE, storeSecret));
        }
        String clientSecret = text(Setting.KEELSON_OIDC_CLIENT_SECRET_FILE);
        if (clientSecret != null) {
            keyFiles.add(path(Setting.KEELSON_OIDC_CLIENT_SECRET_FILE, clientSecret));
        }
        String mail = text(Setting.KEELSON_SMTP_PASSWORD_FILE);
        if (mail != null) {
            keyFiles.add(path(Setting.KEELSON_SMTP_PASSWORD_FILE, mail));
        }
        String broker = text(Setting.KEELSON_RABBITMQ_URL_FILE);
        if (broker != null) {
            keyFiles.add(path(Setting.KEELSON_RABBITMQ_URL_FILE, broker));
        }
        String passwords = environment.getOrDefault("PGPASSFILE", "");
        if (!passwords.isEmpty()) {
            keyFiles.add(path(Setting.KEELSON_DATABASE_URL, passwords));
        }
        return new Settings.Folders(list(Setting.KEELSON_ALLOWED_FOLDERS, File.pathSeparator)
                .map(each -> path(Setting.KEELSON_ALLOWED_FOLDERS, each)).toList(), List.of(), keyFiles);
    }

    private static List<String> knownInFile() {
        return Arrays.stream(Setting.values()).filter(setting -> setting != Setting.KEELSON_CONFIG).map(Setting::name)
                .toList();
    }

    /** The keys; empty if not set. An invalid value is not shown: it may be a key with a typing error. */
    private Stream<SealingKey> secretKeys(Setting setting) {
        return list(setting, ",").map(each -> {
            SealingKey key = SealingKey.parse(each);
            if (key == null) {
                refuse(setting, "(hidden)", "32 bytes in Base64");
            }
            return key;
        }).filter(Objects::nonNull);
    }

    private EffectSettings commands() {
        String url = text(Setting.KEELSON_PROVIDER_URL);
        if (url != null && !WEB.matcher(url).matches()) {
            refuse(Setting.KEELSON_PROVIDER_URL, url, "an address such as https://provider.example/v1");
        }
        List<EffectSettings.Endpoint> types = new ArrayList<>();
        list(Setting.KEELSON_COMMAND_TYPES, ",").forEach(each -> {
            Optional<EffectSettings.Endpoint> type = EffectSettings.type(each.strip());
            if (type.isPresent() && types.stream().noneMatch(known -> known.type().equals(type.get().type()))) {
                types.add(type.get());
            } else {
                refuse(Setting.KEELSON_COMMAND_TYPES, each.strip(),
                        "new types, each a name with a dot and its URL, as in crm.note=https://crm.example/notes idempotent");
            }
        });
        return new EffectSettings(url == null ? null : url.replaceAll("/+$", ""),
                text(Setting.KEELSON_PROVIDER_TOKEN), flag(Setting.KEELSON_PROVIDER_IDEMPOTENT),
                seconds(Setting.KEELSON_PROVIDER_TIMEOUT_SECONDS, MAX_CALL_SECONDS), types);
    }

    /** The wrong value is not shown: it may have a password. */
    private @Nullable RabbitSettings broker() {
        Duration repeat = seconds(Setting.KEELSON_RABBITMQ_REPEAT_SECONDS, MAX_LEASE_SECONDS);
        String url = text(Setting.KEELSON_RABBITMQ_URL);
        String named = text(Setting.KEELSON_RABBITMQ_URL_FILE);
        if (named != null && url != null) {
            refuse(Setting.KEELSON_RABBITMQ_URL_FILE, named, "empty where KEELSON_RABBITMQ_URL is set");
        } else if (named != null) {
            url = content(Setting.KEELSON_RABBITMQ_URL_FILE, path(Setting.KEELSON_RABBITMQ_URL_FILE, named));
        }
        Optional<URI> address = url == null ? Optional.empty() : RabbitSettings.parse(url);
        if (url != null && address.isEmpty()) {
            refuse(Setting.KEELSON_RABBITMQ_URL, "(hidden)", "amqp://user:password@host:port/vhost, or amqps: for TLS");
        }
        return address.map(uri -> new RabbitSettings(uri, repeat)).orElse(null);
    }

    private @Nullable OidcSettings oidc() {
        String issuer = text(Setting.KEELSON_OIDC_ISSUER);
        String client = text(Setting.KEELSON_OIDC_CLIENT_ID);
        String secret = secret(Setting.KEELSON_OIDC_CLIENT_SECRET, Setting.KEELSON_OIDC_CLIENT_SECRET_FILE);
        List<String> scopes = list(Setting.KEELSON_OIDC_SCOPES, "\\s+").toList();
        List<RoleGrants.Grant> grants = grants();
        if (issuer == null) {
            return null;
        }
        if (!WEB.matcher(issuer).matches()) {
            refuse(Setting.KEELSON_OIDC_ISSUER, issuer,
                    "the provider's address, such as https://id.example/realms/acme");
        }
        if (client == null) {
            refuse(Setting.KEELSON_OIDC_CLIENT_ID, "", "the id that the provider has for this installation");
            return null;
        }
        if (!scopes.contains("openid")) {
            refuse(Setting.KEELSON_OIDC_SCOPES, String.join(" ", scopes), "a list with openid");
        }
        if (grants.isEmpty()) {
            refuse(Setting.KEELSON_OIDC_ROLES, "",
                    "at least one GROUP=WORKSPACE:ROLE, as no person has a role otherwise");
        }
        return new OidcSettings(issuer, client, secret, scopes, required(Setting.KEELSON_OIDC_GROUPS_CLAIM),
                required(Setting.KEELSON_OIDC_NAME_CLAIM), new RoleGrants(grants));
    }

    private @Nullable SmtpSettings mail() {
        String host = text(Setting.KEELSON_SMTP_HOST);
        int port = number(Setting.KEELSON_SMTP_PORT, 1, MAX_PORT);
        SmtpSettings.Tls tls = choice(Setting.KEELSON_SMTP_TLS, SmtpSettings.Tls.values(), SmtpSettings.Tls::valueOf);
        String user = text(Setting.KEELSON_SMTP_USER);
        String password = secret(Setting.KEELSON_SMTP_PASSWORD, Setting.KEELSON_SMTP_PASSWORD_FILE);
        String from = text(Setting.KEELSON_SMTP_FROM);
        String authorities = text(Setting.KEELSON_SMTP_AUTHORITIES);
        if (host == null) {
            return null;
        }
        if (tls == SmtpSettings.Tls.NONE && !SmtpSettings.isHere(host)) {
            refuse(Setting.KEELSON_SMTP_TLS, "none", "starttls or tls, as the mail server is on another machine");
        }
        if (from == null || !MailAddress.isOne(from)) {
            refuse(Setting.KEELSON_SMTP_FROM, Objects.toString(from, ""),
                    "one address without a name, such as keelson@example.com");
            return null;
        }
        if (user != null && password == null) {
            refuse(Setting.KEELSON_SMTP_PASSWORD, "", "the password of KEELSON_SMTP_USER");
        }
        return new SmtpSettings(host, port, tls, user, password, from,
                authorities == null ? null : path(Setting.KEELSON_SMTP_AUTHORITIES, authorities));
    }

    private List<RoleGrants.Grant> grants() {
        return grants(Setting.KEELSON_OIDC_ROLES, grant -> grant.role() != Role.WORKER,
                "GROUP=WORKSPACE:ROLE with the role viewer, operator, approver or admin");
    }

    private List<RoleGrants.Grant> grants(Setting setting, Predicate<RoleGrants.Grant> accepted, String wanted) {
        List<RoleGrants.Grant> grants = new ArrayList<>();
        list(setting, ",").forEach(each -> RoleGrants.Grant.parse(each).filter(accepted)
                .ifPresentOrElse(grants::add, () -> refuse(setting, each, wanted)));
        return grants;
    }

    private @Nullable ServiceSettings services() {
        String audience = text(Setting.KEELSON_TOKEN_AUDIENCE);
        List<ServiceSettings.Issuer> issuers = new ArrayList<>();
        issuers.addAll(issuer(Setting.KEELSON_OIDC_ISSUER, Setting.KEELSON_OIDC_SERVICES, null, grant -> grant));
        issuers.addAll(issuer(Setting.KEELSON_KUBERNETES_ISSUER, Setting.KEELSON_KUBERNETES_ACCOUNTS, kubernetesKeys(),
                grant -> new RoleGrants.Grant(ServiceSettings.KUBERNETES + grant.holder().replace('/', ':'),
                        grant.workspace(), grant.role())));
        if (issuers.isEmpty()) {
            return null;
        }
        if (audience == null || audience.equals(text(Setting.KEELSON_OIDC_CLIENT_ID))) {
            refuse(Setting.KEELSON_TOKEN_AUDIENCE, Objects.toString(audience, ""),
                    "an audience of services' tokens alone, other than KEELSON_OIDC_CLIENT_ID");
            return null;
        }
        return new ServiceSettings(audience, issuers);
    }

    /** The issuer of a setting with the roles of another one; empty if it has no roles. */
    private List<ServiceSettings.Issuer> issuer(Setting issuer, Setting roles, @Nullable URI keys,
            UnaryOperator<RoleGrants.Grant> subject) {
        Map<String, String> places = new HashMap<>();
        List<RoleGrants.Grant> grants = grants(roles,
                grant -> !grant.workspace().equals(RoleGrants.EVERY_WORKSPACE)
                        && grant.workspace()
                                .equals(places.merge(grant.holder(), grant.workspace(), (first, _) -> first)),
                "SUBJECT=WORKSPACE:ROLE with the role viewer, operator, approver, admin or worker, each subject in one workspace");
        String name = text(issuer);
        if (grants.isEmpty()) {
            return List.of();
        }
        if (name == null || !WEB.matcher(name).matches()) {
            refuse(issuer, Objects.toString(name, ""), "the address of the issuer whose subjects " + roles + " names");
            return List.of();
        }
        return List.of(new ServiceSettings.Issuer(name, keys, new RoleGrants(grants.stream().map(subject).toList())));
    }

    private @Nullable URI kubernetesKeys() {
        String keys = text(Setting.KEELSON_KUBERNETES_KEYS);
        return keys == null ? null
                : WEB.matcher(keys).matches() ? URI.create(keys) : path(Setting.KEELSON_KUBERNETES_KEYS, keys).toUri();
    }

    /** A secret, or the content of the file that another setting names. */
    private @Nullable String secret(Setting setting, Setting file) {
        String secret = text(setting);
        String named = text(file);
        if (named != null && secret != null) {
            refuse(file, named, "empty where " + setting.name() + " is set");
        } else if (named != null) {
            return content(file, path(file, named));
        }
        return secret;
    }

    private S3Settings.Access objectStore() {
        String endpoint = text(Setting.KEELSON_S3_ENDPOINT);
        String style = oneOf(Setting.KEELSON_S3_PATH_STYLE, "auto", "true", "false");
        if (endpoint != null && !WEB.matcher(endpoint).matches()) {
            refuse(Setting.KEELSON_S3_ENDPOINT, endpoint, "an address such as https://s3.example:9000");
            endpoint = null;
        }
        S3Settings.Encryption encryption = parsed(Setting.KEELSON_S3_ENCRYPTION, S3Settings.Encryption::parse,
                "AES256, aws:kms or aws:kms=KEY");
        return new S3Settings.Access(endpoint == null ? null : URI.create(endpoint.replaceAll("/+$", "")),
                text(Setting.KEELSON_S3_REGION), style.equals("auto") ? endpoint != null : style.equals("true"),
                objectStoreKeys(), encryption);
    }

    private S3Settings.@Nullable Keys objectStoreKeys() {
        String id = text(Setting.KEELSON_S3_ACCESS_KEY);
        String secret = text(Setting.KEELSON_S3_SECRET_KEY);
        String named = text(Setting.KEELSON_S3_SECRET_KEY_FILE);
        if (named != null && secret != null) {
            refuse(Setting.KEELSON_S3_SECRET_KEY_FILE, named, "empty where KEELSON_S3_SECRET_KEY is set");
        } else if (named != null) {
            secret = content(Setting.KEELSON_S3_SECRET_KEY_FILE, path(Setting.KEELSON_S3_SECRET_KEY_FILE, named));
        }
        if (id != null && secret != null) {
            return new S3Settings.Keys(id, secret);
        }
        if (id != null && named == null) {
            refuse(Setting.KEELSON_S3_SECRET_KEY, "", "the secret of KEELSON_S3_ACCESS_KEY");
        } else if (id == null && secret != null) {
            refuse(Setting.KEELSON_S3_ACCESS_KEY, "", "the id of the key whose secret is set");
        }
        return null;
    }

    private <T> @Nullable T parsed(Setting setting, Function<String, Optional<T>> parser, String wanted) {
        String text = text(setting);
        if (text == null) {
            return null;
        }
        Optional<T> value = parser.apply(text);
        if (value.isEmpty()) {
            refuse(setting, text, wanted);
        }
        return value.orElse(null);
    }

    private @Nullable Path webFolder() {
        String folder = text(Setting.KEELSON_WEB_DIR);
        return folder == null ? null : path(Setting.KEELSON_WEB_DIR, folder);
    }

    private @Nullable Path mcpServers() {
        String file = text(Setting.KEELSON_MCP_SERVERS);
        return file == null ? null : path(Setting.KEELSON_MCP_SERVERS, file);
    }

    private ModelSettings models() {
        String file = text(Setting.KEELSON_MODELS);
        return file == null ? ModelSettings.NONE
                : new ModelSettings(path(Setting.KEELSON_MODELS, file), environment);
    }

    private @Nullable String text(Setting setting) {
        String value = environment.getOrDefault(setting.name(), file.getOrDefault(setting.name(), "")).strip();
        String chosen = value.isEmpty() ? setting.defaultText() : value;
        return chosen.isEmpty() ? null : chosen;
    }

    /** For settings that have a default. */
    private String required(Setting setting) {
        String text = text(setting);
        return text == null ? setting.defaultText() : text;
    }

    private Path path(Setting setting, String text) {
        try {
            boolean ofHome = text.equals("~") || text.startsWith("~/");
            if (ofHome && home.endsWith(NO_HOME)) {
                problems.add(new PlanProblem("SETTING_INVALID", setting.name(), "this user has no home folder: set "
                        + setting + " to a folder, or HOME"));
                return workingFolder;
            }
            if (ofHome) {
                return home.resolve(text.substring(Math.min(2, text.length()))).normalize();
            }
            return workingFolder.resolve(text).normalize();
        } catch (InvalidPathException e) {
            refuse(setting, text, "a path");
            return workingFolder;
        }
    }

    private int number(Setting setting, int least, int most) {
        String text = required(setting);
        try {
            int value = Integer.parseInt(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            // refused below, like a number out of range
        }
        refuse(setting, text, "a whole number from " + least + " to " + most);
        return least;
    }

    private Duration seconds(Setting setting, int most) {
        return Duration.ofSeconds(number(setting, 1, most));
    }

    private Duration days(Setting setting) {
        return Duration.ofDays(number(setting, 0, MAX_RETENTION_DAYS));
    }

    private boolean flag(Setting setting) {
        return oneOf(setting, "true", "false").equals("true");
    }

    private BigDecimal credits(Setting setting) {
        String text = required(setting);
        Optional<BigDecimal> amount = CreditAmounts.parse(text).filter(CreditAmounts::possible);
        if (amount.isEmpty()) {
            refuse(setting, text,
                    "an amount from 0 to " + CreditAmounts.MAX_AMOUNT + " with at most " + CreditAmounts.SCALE
                            + " decimal places");
        }
        return amount.orElse(BigDecimal.ZERO);
    }

    private String oneOf(Setting setting, String... allowed) {
        String text = required(setting).toLowerCase(Locale.ROOT);
        if (!List.of(allowed).contains(text)) {
            refuse(setting, text, String.join(" or ", allowed));
            return allowed[0];
        }
        return text;
    }

    private <E extends Enum<E>> E choice(Setting setting, E[] values, Function<String, E> of) {
        String[] names = Arrays.stream(values).map(each -> each.name().toLowerCase(Locale.ROOT)).toArray(String[]::new);
        return of.apply(oneOf(setting, names).toUpperCase(Locale.ROOT));
    }

    private Stream<String> list(Setting setting, String separator) {
        return Arrays.stream(required(setting).split(separator)).map(String::strip).filter(each -> !each.isEmpty());
    }

    private @Nullable String databaseUrl() {
        String text = text(Setting.KEELSON_DATABASE_URL);
        if (text != null && !text.matches("(jdbc:)?postgres(ql)?://\\S+")) {
            refuse(Setting.KEELSON_DATABASE_URL, "(hidden)", "postgresql://user:password@host:port/database");
        }
        return text;
    }

    private @Nullable URI publicUrl() {
        String text = text(Setting.KEELSON_PUBLIC_URL);
        if (text == null) {
            return null;
        }
        try {
            URI uri = new URI(text.replaceAll("/+$", ""));
            if (uri.getHost() != null && List.of("http", "https").contains(String.valueOf(uri.getScheme()))
                    && String.valueOf(uri.getPath()).isEmpty() && uri.getQuery() == null && uri.getFragment() == null) {
                return uri;
            }
        } catch (URISyntaxException e) {
            // refused below, like a URL of another kind
        }
        refuse(Setting.KEELSON_PUBLIC_URL, text, "an address without a path, such as https://keelson.example");
        return null;
    }

    private @Nullable String url() {
        String text = text(Setting.KEELSON_URL);
        if (text == null) {
            return null;
        }
        try {
            URI uri = new URI(text);
            if (uri.getHost() != null && List.of("http", "https").contains(String.valueOf(uri.getScheme()))) {
                return text.replaceAll("/+$", "");
            }
        } catch (URISyntaxException e) {
            // refused below, like a URL of another kind
        }
        refuse(Setting.KEELSON_URL, text, "an address such as http://127.0.0.1:7331");
        return null;
    }

    private void refuse(Setting setting, String value, String wanted) {
        problems.add(new PlanProblem("SETTING_INVALID", setting.name(),
                setting.name() + "=" + value + " cannot be used: it must be " + wanted));
    }
}
