package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.app.Setting;
import io.keelson.server.app.Settings;
import io.keelson.server.app.metrics.Metric;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Files in {@code deploy/} and the runbooks name only commands, settings and metrics that exist. */
class DeployTest {

    private static final Path ROOT = Path.of("..");
    private static final YAMLMapper YAML = new YAMLMapper();
    /** Labels that Prometheus adds. */
    private static final Set<String> TARGET = Set.of("job", "instance");
    private static final List<String> ALERT_TESTS = List.of("alerts-test.yaml", "alerts-days-test.yaml");
    private static final Pattern QUERIED = Pattern.compile("\\b((?:keelson|jvm|process)_[a-z_]+)(?:\\{([^}]*)})?");

    private static String text(String file) throws IOException {
        return Files.readString(ROOT.resolve(file));
    }

    private static List<JsonNode> documents(String file) throws IOException {
        return YAML.readerFor(JsonNode.class).<JsonNode>readValues(text(file)).readAll();
    }

    private static void requireServed(String query) {
        Map<String, Metric> samples = new TreeMap<>();
        for (Metric metric : Metric.values()) {
            metric.samples().forEach(sample -> samples.put(sample, metric));
        }
        Matcher queried = QUERIED.matcher(query);
        int found = 0;
        while (queried.find()) {
            found++;
            assertThat(samples).as(query).containsKey(queried.group(1));
            if (queried.group(2) != null) {
                for (String selector : queried.group(2).split(",")) {
                    assertThat(selector.split("[=!]")[0].strip()).as(query).matches(label -> TARGET.contains(label)
                            || samples.get(queried.group(1)).labels().contains(label), "is a label");
                }
            }
        }
        assertThat(found > 0 || query.startsWith("up{")).as(query).isTrue();
    }

    /** A server without memory would live on half dead: its acceptor may be among what has ended. */
    @Test
    void serverWithoutMemoryEnds() throws IOException {
        assertThat(text("scripts/launch")).contains("-XX:+ExitOnOutOfMemoryError");
        assertThat(text("deploy/Dockerfile")).contains("\"-XX:+ExitOnOutOfMemoryError\"");
    }

    @Test
    void theDashboardAsksForMetricsThatAreServed() throws IOException {
        JsonNode dashboard = JsonMapper.shared().readTree(text("deploy/grafana/keelson.json"));
        List<String> queries = dashboard.findValuesAsString("expr");

        assertThat(queries).hasSizeGreaterThan(20);
        queries.forEach(DeployTest::requireServed);
        assertThat(dashboard.findValuesAsString("id")).doesNotHaveDuplicates();
    }

    /** Profiles do not count: the launcher and the image build with {@code -Dfast}. */
    @Test
    void everyJarHasItsBillOfMaterialsAndNothingOfTheJdkThatMavenRunsOn() throws IOException {
        String build = text("cli/pom.xml").replaceAll("(?s)<profiles>.*</profiles>", "");

        assertThat(build).contains("<artifactId>cyclonedx-maven-plugin</artifactId>",
                "${project.build.outputDirectory}/META-INF/sbom", "<addDefaultEntries>false</addDefaultEntries>");
    }

    @Test
    void everyAlertHasItsRunbook() throws IOException {
        Set<String> anchors = text("docs/operate/runbooks.md").lines().filter(line -> line.startsWith("## "))
                .map(line -> "docs/operate/runbooks.md#"
                        + line.substring(3).toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9 -]", "")
                                .replace(' ', '-'))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> linked = new TreeSet<>();
        for (JsonNode rule : documents("deploy/prometheus/alerts.yaml").getFirst().at("/groups/0/rules")) {
            requireServed(rule.get("expr").stringValue());
            linked.add(rule.at("/annotations/runbook_url").stringValue());
            assertThat(rule.at("/labels/severity").stringValue()).isIn("warning", "critical");
            assertThat(text("docs/operate/runbooks.md")).contains("`" + rule.get("alert").stringValue() + "`");
        }

        assertThat(linked).isEqualTo(anchors);
    }

    @Test
    void everyAlertHasACaseInWhichItFiresAndOneInWhichItIsSilent() throws IOException {
        Set<String> firing = new TreeSet<>();
        Set<String> silent = new TreeSet<>();
        for (String file : ALERT_TESTS) {
            for (JsonNode test : documents("deploy/prometheus/" + file).getFirst().get("tests")) {
                test.get("input_series").valueStream().map(series -> series.get("series").stringValue())
                        .forEach(DeployTest::requireServed);
                for (JsonNode moment : test.get("alert_rule_test")) {
                    (moment.get("exp_alerts").isEmpty() ? silent : firing).add(moment.get("alertname").stringValue());
                }
            }
        }
        Set<String> alerts = documents("deploy/prometheus/alerts.yaml").getFirst().at("/groups/0/rules").valueStream()
                .map(rule -> rule.get("alert").stringValue()).collect(Collectors.toCollection(TreeSet::new));
        assertThat(firing).isEqualTo(alerts);
        assertThat(silent).isEqualTo(alerts);
    }

    @Test
    @Breadth.InPart(6)
    void alertsFireInTime() throws Exception {
        promtool(Stream.concat(Stream.of("test", "rules"), ALERT_TESTS.stream()));
    }

    @Test
    @Breadth.InPart(6)
    void configurationOfPrometheusIsValid() throws Exception {
        promtool(Stream.of("check", "config", "prometheus.yaml"));
    }

    private static void promtool(Stream<String> arguments) throws Exception {
        ProcessBuilder promtool = new ProcessBuilder(Stream.concat(Stream.of("promtool"), arguments).toList())
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .directory(ROOT.resolve("deploy/prometheus").toFile()).redirectErrorStream(true);
        Assumptions.assumeTrue(Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "promtool"))),
                "promtool is missing (Debian: prometheus)");
        Process process = promtool.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
    }

    @Test
    void runbooksUseCommandsThatExist() throws IOException {
        String manual = text("docs/reference/cli.md");
        List<String> commands =
                Pattern.compile("(?m)^(keelson .*?)(?: +#.*)?$").matcher(text("docs/operate/runbooks.md")).results()
                        .map(command -> command.group(1)).toList();

        assertThat(commands).hasSizeGreaterThan(20);
        for (String command : commands) {
            List<String> words = List.of(command.split(" "));
            int known = Math.min(3, words.size());
            while (known > 1 && section(manual, words, known).isEmpty()) {
                known--;
            }
            String section = section(manual, words, known);
            assertThat(known).as(command).isGreaterThan(1);
            words.stream().filter(word -> word.startsWith("--"))
                    .forEach(option -> assertThat(section).as(command).contains(option));
        }
    }

    private static String section(String manual, List<String> words, int known) {
        String heading = "\n## " + String.join(" ", words.subList(0, known)) + "\n";
        int from = manual.indexOf(heading);
        int to = manual.indexOf("\n## ", from + heading.length());
        return from < 0 ? "" : manual.substring(from, to < 0 ? manual.length() : to);
    }

    @Test
    void manifestsSetWhatIsReadAndAskWhatIsServed(@TempDir Path folder) throws Exception {
        Set<String> settings = Arrays.stream(Setting.values()).map(Setting::name).collect(Collectors.toSet());
        for (String file : List.of("deploy/kubernetes/keelson.yaml", "deploy/compose/docker-compose.yaml",
                "deploy/Dockerfile", "deploy/helm/keelson/examples/s3.yaml",
                "deploy/helm/keelson/templates/config.yaml", "deploy/helm/keelson/templates/deployment.yaml",
                "deploy/helm/keelson/templates/_refusals.tpl",
                "docs/operate/operations.md", "docs/operate/runbooks.md")) {
            assertThat(Pattern.compile("KEELSON_[A-Z_0-9]+").matcher(text(file)).results().map(word -> word.group()))
                    .as(file).isSubsetOf(settings).isNotEmpty();
        }
        Map<String, JsonNode> kinds = new TreeMap<>();
        documents("deploy/kubernetes/keelson.yaml").forEach(each -> kinds.put(each.get("kind").stringValue(), each));
        assertThat(kinds).containsKeys("ConfigMap", "Deployment", "Service", "PodDisruptionBudget");

        Map<String, String> environment = new TreeMap<>(Map.of("KEELSON_DATA_DIR", folder.toString()));
        kinds.get("ConfigMap").get("data").properties()
                .forEach(each -> environment.put(each.getKey(), each.getValue().stringValue()));
        Settings read = Settings.load(environment, folder, folder);
        JsonNode container = kinds.get("Deployment").at("/spec/template/spec/containers/0");
        assertThat(container.at("/ports/0/containerPort").intValue()).isEqualTo(read.http().port());
        assertThat(kinds.get("Service").at("/spec/ports/0/targetPort").stringValue())
                .isEqualTo(container.at("/ports/0/name").stringValue());
        assertThat(kinds.get("Deployment").at("/spec/template/metadata/annotations").get("prometheus.io/port")
                .stringValue()).isEqualTo(Integer.toString(read.http().port()));
        Set<String> paths = new TreeSet<>(YAML.readTree(text("server/src/main/resources/openapi.yaml")).get("paths")
                .propertyNames());
        assertThat(paths).containsAll(container.findValuesAsString("path")).contains("/metrics");
        assertThat(kinds.get("PodDisruptionBudget").at("/spec/maxUnavailable").intValue())
                .isLessThan(kinds.get("HorizontalPodAutoscaler").at("/spec/minReplicas").intValue());
    }

    @Test
    void chartHasTheVersionOfTheBuild() throws IOException {
        JsonNode chart = documents("deploy/helm/keelson/Chart.yaml").getFirst();
        Matcher version = Pattern.compile("<artifactId>keelson-parent</artifactId>\\s*<version>([0-9.]+)")
                .matcher(text("pom.xml"));
        assertThat(version.find()).isTrue();
        assertThat(chart.get("appVersion").stringValue()).isEqualTo(version.group(1));
        assertThat(chart.get("version").stringValue()).isEqualTo(version.group(1));
    }

    @Test
    void podsHaveNoTokenACpuLimitAndAnEgressRule() throws IOException {
        List<JsonNode> manifests = documents("deploy/kubernetes/keelson.yaml");
        JsonNode pod = manifests.stream().filter(each -> each.path("kind").asString("").equals("Deployment")
                || each.path("kind").asString("").equals("StatefulSet")).findFirst().orElseThrow()
                .at("/spec/template/spec");
        assertThat(pod.path("automountServiceAccountToken").asBoolean(true)).isFalse();
        assertThat(pod.path("containers").valueStream().toList()).isNotEmpty()
                .allMatch(each -> each.at("/resources/limits").has("cpu"));
        assertThat(manifests.stream().filter(each -> each.path("kind").asString("").equals("NetworkPolicy")).toList())
                .isNotEmpty().allSatisfy(each -> assertThat(each.at("/spec/policyTypes").valueStream()
                        .map(JsonNode::asString)).contains("Egress"));
    }

    @Test
    void composeMountsFilesThatExist() throws IOException {
        JsonNode services = documents("deploy/compose/docker-compose.yaml").getFirst().get("services");
        assertThat(services.propertyNames()).containsExactlyInAnyOrder("postgres", "keelson", "prometheus", "grafana");
        for (JsonNode service : services) {
            service.path("volumes").forEach(volume -> {
                String source = volume.stringValue().split(":")[0];
                assertThat(source.startsWith(".") ? ROOT.resolve("deploy/compose").resolve(source) : ROOT).exists();
            });
        }
        assertThat(ROOT.resolve(services.at("/keelson/build/dockerfile").stringValue())).exists();
        for (String file : List.of("prometheus/prometheus.yaml", "grafana/datasource.yaml", "grafana/provider.yaml")) {
            assertThat(documents("deploy/" + file)).hasSize(1);
        }
    }
}
