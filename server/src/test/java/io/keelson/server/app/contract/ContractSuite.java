package io.keelson.server.app.contract;

import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The cases of {@code clients/contract}, and its fault proxy in a process. */
public final class ContractSuite {
    /** Debian's, whose package for YAML the suite needs; another Python may be the first on the path. */
    private static final String PYTHON = Files.exists(Path.of("/usr/bin/python3")) ? "/usr/bin/python3" : "python3";
    private static final Path PROGRAM = Path.of("../clients/contract/fault_proxy.py").toAbsolutePath().normalize();
    private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private ContractSuite() {}

    /** Missions and cases of the suite. */
    public static JsonNode read() throws IOException {
        Process process = new ProcessBuilder(PYTHON, PROGRAM.toString(), "--cases")
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        process.getOutputStream().close();
        return Json.read(process.getInputStream().readAllBytes());
    }

    /** A call that is not the client's. */
    static JsonNode http(String url, @Nullable JsonNode body, @Nullable String key) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(30))
                .header("Content-Type", "application/json");
        if (key != null) {
            request.header("Authorization", "Bearer " + key);
        }
        if (body != null) {
            request.POST(BodyPublishers.ofByteArray(Json.write(body)));
        }
        HttpResponse<byte[]> answer = HTTP.send(request.build(), BodyHandlers.ofByteArray());
        if (answer.statusCode() >= 400) {
            throw new AssertionError(url + " answered " + answer.statusCode() + " "
                    + new String(answer.body(), StandardCharsets.UTF_8));
        }
        return answer.body().length == 0 ? Json.object() : Json.read(answer.body());
    }

    /** The fault proxy before a server. */
    public static final class Proxy implements AutoCloseable {
        private final Process process;
        private final String url;

        /** @param server base address of the server */
        public Proxy(String server) throws IOException {
            process = new ProcessBuilder(PYTHON, PROGRAM.toString(), "--upstream", server)
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            url = Json.read(process.inputReader().readLine()).path("url").stringValue();
        }

        String url() {
            return url;
        }

        /** Begins a case. */
        void begin(JsonNode faults) throws Exception {
            http(url + "/-/case", Json.object().set("faults", faults), null);
        }

        /** The logged requests of a route. */
        List<JsonNode> log(String route) throws Exception {
            return http(url + "/-/log?route=" + URLEncoder.encode(route, StandardCharsets.UTF_8), null, null)
                    .valueStream().toList();
        }

        @Override
        public void close() throws IOException {
            process.getOutputStream().close();
            process.destroy();
        }
    }
}
