package io.keelson.server.annex.oidc;

import io.keelson.server.annex.mcp.NpmServers;
import io.keelson.server.base.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** The certified provider {@code oidc-provider} of npm in a process of its own. */
final class OpenIdProvider implements AutoCloseable {

    private final Process process;
    private final String issuer;
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    OpenIdProvider() {
        try {
            process = new ProcessBuilder(NpmServers.own("op.mjs")).redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
            String line = lines.readLine();
            while (line != null && !line.startsWith("listening ")) {
                line = lines.readLine();
            }
            if (line == null) {
                throw new AssertionError("the provider has ended with " + process.onExit().join().exitValue());
            }
            issuer = line.substring("listening ".length());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    String issuer() {
        return issuer;
    }

    /** Registers a client of people. */
    void client(String id, URI server, List<String> grantTypes) {
        control("client", Json.tree(Map.of("client_id", id, "client_secret", "a secret of " + id, "redirect_uris",
                List.of(server + "/auth/callback"), "post_logout_redirect_uris", List.of(server + "/ui/"),
                "grant_types", grantTypes, "response_types", List.of("code"), "backchannel_logout_uri",
                server + "/auth/backchannel-logout", "backchannel_logout_session_required", true)));
    }

    /** Registers a service. */
    void service(String id) {
        control("client", Json.tree(Map.of("client_id", id, "client_secret", "a secret of " + id, "redirect_uris",
                List.of(), "grant_types", List.of("client_credentials"), "response_types", List.of())));
    }

    /** An access token of a service. */
    String token(String service) {
        String credentials = Base64.getEncoder().encodeToString(
                (service + ":" + ("a secret of " + service).replace(" ", "+")).getBytes(StandardCharsets.UTF_8));
        return Json.read(send(HttpRequest.newBuilder(URI.create(issuer + "/token"))
                .header("Authorization", "Basic " + credentials)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString("grant_type=client_credentials")).build()))
                .path("access_token").asString("");
    }

    /** Changes claims of a person: {@code groups}, for example. */
    void person(String subject, Map<String, Object> claims) {
        control("claims", Json.tree(Map.of("people", Map.of(subject, claims))));
    }

    void set(String name, Object value) {
        control("set", Json.tree(Map.of(name, value)));
    }

    void control(String what, JsonNode body) {
        send(HttpRequest.newBuilder(URI.create(issuer + "/control/" + what))
                .POST(HttpRequest.BodyPublishers.ofString(body.toString())).build());
    }

    private String send(HttpRequest request) {
        try {
            HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                throw new AssertionError(answer.statusCode() + " " + answer.body());
            }
            return answer.body();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        process.destroy();
        http.close();
    }
}
