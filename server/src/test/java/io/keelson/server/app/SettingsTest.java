package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.annex.s3.S3Settings;
import io.keelson.server.api.http.support.Observed;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {

    private static final Path HOME = Path.of("/home/ada");
    private static final Path WORK = Path.of("/work");

    @TempDir
    Path folder;

    record Row(String name, String value, Function<Settings, Object> read, Object expected) {}

    static Stream<Row> values() {
        return Stream.of(new Row("KEELSON_DATA_DIR", "", Settings::dataDir, HOME.resolve(".keelson")),
                new Row("KEELSON_DATA_DIR", "~/k", Settings::dataDir, HOME.resolve("k")),
                new Row("KEELSON_DATA_DIR", "d/../e", Settings::dataDir, WORK.resolve("e")),
                new Row("KEELSON_HTTP_HOST", "", settings -> settings.http().host(), "127.0.0.1"),
                new Row("KEELSON_HTTP_PORT", "", settings -> settings.http().port(), 7331),
                new Row("KEELSON_HTTP_PORT", " 0 ", settings -> settings.http().port(), 0),
                new Row("KEELSON_DATABASE_URL", "", Settings::databaseUrl, null),
                new Row("KEELSON_DATABASE_URL", "postgresql://a:b@h:1/d", Settings::databaseUrl,
                        "postgresql://a:b@h:1/d"),
                new Row("KEELSON_URL", "http://h:1/", settings -> settings.client().url(), "http://h:1"),
                new Row("KEELSON_URL", "", settings -> settings.client().url(), null),
                new Row("KEELSON_API_KEY", "k", settings -> settings.client().apiKey(), "k"),
                new Row("KEELSON_ALLOWED_FOLDERS", "", settings -> settings.tools().folders().allowed(), List.of()),
                new Row("KEELSON_ALLOWED_FOLDERS", "/a: b:", settings -> settings.tools().folders().allowed(),
                        List.of(Path.of("/a"), WORK.resolve("b"))),
                new Row("KEELSON_ALLOWED_PROGRAMS", "", settings -> settings.tools().programs(), Set.of("git")),
                new Row("KEELSON_ALLOWED_PROGRAMS", "git, wc", settings -> settings.tools().programs(),
                        Set.of("git", "wc")),
                new Row("KEELSON_ALLOW_PRIVATE_ADDRESSES", "", settings -> settings.tools().privateAddresses(), false),
                new Row("KEELSON_ALLOW_PRIVATE_ADDRESSES", "TRUE", settings -> settings.tools().privateAddresses(),
                        true),
                new Row("KEELSON_EXECUTOR_SLOTS", "", settings -> settings.execution().slots(), 128),
                new Row("KEELSON_EXECUTOR_SLOTS", "0", settings -> settings.execution().slots(), 0),
                new Row("KEELSON_DATABASE_CONNECTIONS", "", Settings::databaseConnections, 16),
                new Row("KEELSON_DATABASE_CONNECTIONS", "64", Settings::databaseConnections, 64),
                new Row("KEELSON_WAITING_SLOTS", "", settings -> settings.execution().waitingSlots(), 2_000),
                new Row("KEELSON_WAITING_SLOTS", "10000", settings -> settings.execution().waitingSlots(), 10_000),
                new Row("KEELSON_LEASE_SECONDS", "5", settings -> settings.execution().lease(), Duration.ofSeconds(5)),
                new Row("KEELSON_ARTIFACTS", "s3://b-1/a", settings -> settings.artifacts().store().location(),
                        new S3Settings.Location("b-1", "a/")),
                new Row("KEELSON_ARTIFACTS", "", settings -> settings.artifacts().store(), null),
                new Row("KEELSON_S3_ENDPOINT", "http://s:1/", settings -> settings.artifacts().access(),
                        new S3Settings.Access(URI.create("http://s:1"), null, true, null, null)),
                new Row("KEELSON_S3_PATH_STYLE", "true", settings -> settings.artifacts().access().pathStyle(), true),
                new Row("KEELSON_S3_ENCRYPTION", "aws:kms=k", settings -> settings.artifacts().access().encryption(),
                        new S3Settings.Encryption("aws:kms", "k")),
                new Row("KEELSON_ARTIFACT_LINKS", "300", settings -> settings.artifacts().links(),
                        Duration.ofMinutes(5)),
                new Row("KEELSON_STATUS_DOCUMENTS", "", settings -> settings.artifacts().documents(), false),
                new Row("KEELSON_STATUS_DOCUMENTS", "true", settings -> settings.artifacts().documents(), true),
                new Row("KEELSON_INITIAL_CREDITS", "0.5", Settings::initialCredits, new BigDecimal("0.5")),
                new Row("KEELSON_METRICS_ACCESS", "key", settings -> settings.http().metricsAccess(),
                        Observed.MetricsAccess.KEY),
                new Row("KEELSON_LOG_FORMAT", "json", settings -> settings.log().format(), Settings.LogFormat.JSON),
                new Row("KEELSON_TRACES_GENAI", "latest", settings -> settings.telemetry().genAi(),
                        Settings.GenAi.LATEST),
                new Row("KEELSON_LOG_LEVEL", "", settings -> settings.log().level(), Settings.LogLevel.INFO));
    }

    @ParameterizedTest
    @MethodSource("values")
    void readsFromTheEnvironment(Row row) throws Exception {
        assertThat(row.read().apply(Settings.load(Map.of(row.name(), row.value()), HOME, WORK)))
                .isEqualTo(row.expected());
    }

    @ParameterizedTest
    @MethodSource("values")
    void readsTheSameNamesFromTheFile(Row row) throws Exception {
        if (!row.value().isEmpty()) {
            assertThat(row.read().apply(Settings.load(config(row.name() + "=" + row.value()), HOME, WORK)))
                    .isEqualTo(row.expected());
        }
    }

    @ParameterizedTest
    @CsvSource({"KEELSON_HTTP_PORT, -1", "KEELSON_HTTP_PORT, 65536", "KEELSON_HTTP_PORT, many",
            "KEELSON_LEASE_SECONDS, 0", "KEELSON_INITIAL_CREDITS, -1", "KEELSON_INITIAL_CREDITS, 0.0000001",
            "KEELSON_INITIAL_CREDITS, some", "KEELSON_DATABASE_CONNECTIONS, 3", "KEELSON_EXECUTOR_SLOTS, -1",
            "KEELSON_WAITING_SLOTS, 100001",
            "KEELSON_ALLOW_PRIVATE_ADDRESSES, perhaps",
            "KEELSON_LOG_FORMAT, xml", "KEELSON_METRICS_ACCESS, all", "KEELSON_LOG_LEVEL, loud",
            "KEELSON_DATABASE_URL, mysql://h/d",
            "KEELSON_ARTIFACTS, bucket", "KEELSON_S3_ENDPOINT, ftp://s", "KEELSON_S3_PATH_STYLE, no",
            "KEELSON_S3_ENCRYPTION, DES", "KEELSON_ARTIFACT_LINKS, 3601",
            "KEELSON_URL, 127.0.0.1:7331", "KEELSON_URL, 'http:// x'"})
    void aBadValueIsNamed(String name, String value) {
        PlanProblem problem = problems(Map.of(name, value)).getFirst();
        assertThat(problem.code()).isEqualTo("SETTING_INVALID");
        assertThat(problem.pointer()).isEqualTo(name);
        assertThat(problem.message()).startsWith(name + "=").contains("it must be");
    }

    @ParameterizedTest
    @ValueSource(strings = {"pay=https://pay.example/p", "Pay.now=https://pay.example/p", "pay.now"})
    void aCommandTypeIsANameWithADotAndAUrl(String value) {
        assertThat(problems(Map.of("KEELSON_COMMAND_TYPES", value))).singleElement()
                .extracting(PlanProblem::message).asString()
                .startsWith("KEELSON_COMMAND_TYPES=" + value + " cannot be used")
                .contains("a name with a dot and its URL");
    }

    @Test
    void allProblemsAtOnceWithoutSecrets() throws IOException {
        Map<String, String> environment = config("KEELSON_HTTP_PROT=1\nKEELSON_CONFIG=x\nKEELSON_EXECUTOR_SLOTS=few");
        environment.put("KEELSON_DATABASE_URL", "mysql://ada:secret@h/d");
        assertThat(problems(environment)).extracting(PlanProblem::code, PlanProblem::pointer)
                .containsExactlyInAnyOrder(
                        tuple("SETTING_UNKNOWN", "KEELSON_HTTP_PROT"),
                        tuple("SETTING_UNKNOWN", "KEELSON_CONFIG"),
                        tuple("SETTING_INVALID", "KEELSON_EXECUTOR_SLOTS"),
                        tuple("SETTING_INVALID", "KEELSON_DATABASE_URL"));
        assertThat(problems(environment).toString()).contains("did you mean 'KEELSON_HTTP_PORT'?")
                .doesNotContain("secret");
    }

    @Test
    void theEnvironmentWinsOverTheFile() throws Exception {
        Map<String, String> environment = config("KEELSON_HTTP_PORT=1\nKEELSON_EXECUTOR_SLOTS=2");
        environment.put("KEELSON_HTTP_PORT", "3");
        Settings settings = Settings.load(environment, HOME, WORK);
        assertThat(settings.http().port()).isEqualTo(3);
        assertThat(settings.execution().slots()).isEqualTo(2);
    }

    @Test
    void aMissingFileIsNamed() {
        Map<String, String> environment = Map.of("KEELSON_CONFIG", folder.resolve("absent").toString());
        assertThat(problems(environment)).extracting(PlanProblem::code).containsExactly("CONFIG_FILE_UNREADABLE");
    }

    @Test
    void theTextFormShowsNoSecret() throws Exception {
        Settings settings = Settings.load(
                Map.of("KEELSON_API_KEY", "hush", "KEELSON_DATABASE_URL", "postgresql://a:hush@h/d"), HOME, WORK);
        assertThat(settings.toString()).doesNotContain("hush");
    }

    @Test
    void accessKeyOfAnObjectStoreHasAnIdAndASecret() throws Exception {
        assertThat(problems(Map.of("KEELSON_S3_ACCESS_KEY", "id"))).extracting(PlanProblem::pointer)
                .containsExactly("KEELSON_S3_SECRET_KEY");
        assertThat(problems(Map.of("KEELSON_S3_SECRET_KEY", "hush"))).singleElement()
                .satisfies(each -> assertThat(each.pointer()).isEqualTo("KEELSON_S3_ACCESS_KEY"))
                .satisfies(each -> assertThat(each.message()).doesNotContain("hush"));
        Path file = Files.writeString(folder.resolve("secret"), "hush\n");
        Settings settings = Settings.load(Map.of("KEELSON_S3_ACCESS_KEY", "id", "KEELSON_S3_SECRET_KEY_FILE",
                file.toString()), HOME, WORK);
        assertThat(settings.artifacts().access().keys()).isEqualTo(new S3Settings.Keys("id", "hush"));
        assertThat(settings.tools().folders().keyFiles()).contains(file);
    }

    @Test
    void aUserWithoutAHomeIsAskedForADataFolder() throws Exception {
        assertThat(catchThrowableOfType(InvalidSettingsException.class,
                () -> Settings.load(Map.of(), Path.of("?"), WORK)).problems().toString())
                .contains("KEELSON_DATA_DIR", "no home folder");
        assertThat(Settings.load(Map.of("KEELSON_DATA_DIR", "/d"), Path.of("?"), WORK).dataDir())
                .isEqualTo(Path.of("/d"));
    }

    private Map<String, String> config(String text) throws IOException {
        Path file = Files.writeString(folder.resolve("keelson.properties"), text);
        return new HashMap<>(Map.of("KEELSON_CONFIG", file.toString()));
    }

    private static List<PlanProblem> problems(Map<String, String> environment) {
        return catchThrowableOfType(InvalidSettingsException.class, () -> Settings.load(environment, HOME, WORK))
                .problems();
    }
}
