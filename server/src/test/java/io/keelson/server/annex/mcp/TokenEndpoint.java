package io.keelson.server.annex.mcp;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A token endpoint for one client, by RFC 6749: each request gets another token. */
public final class TokenEndpoint implements AutoCloseable {
    private final HttpServer http;
    private final String client;
    private final String secret;
    /** The form of each request. */
    public final List<Map<String, String>> requests = new CopyOnWriteArrayList<>();
    public volatile long expiresIn = 3600;

    public TokenEndpoint(String client, String secret) throws IOException {
        this.client = client;
        this.secret = secret;
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.createContext("/token", this::answer);
        http.start();
    }

    public String url() {
        return "http://127.0.0.1:" + http.getAddress().getPort() + "/token";
    }

    /** The token that the n-th request got, from 1 on. */
    public static String token(int n) {
        return "issued-token-number-" + n;
    }

    private void answer(HttpExchange exchange) throws IOException {
        String form = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        Map<String, String> members = new TreeMap<>();
        for (String member : form.split("&")) {
            String[] parts = member.split("=", 2);
            members.put(decoded(parts[0]), decoded(parts[1]));
        }
        requests.add(members);
        String basic = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")).replace("Basic ", "");
        String[] given = new String(Base64.getDecoder().decode(basic), StandardCharsets.UTF_8).split(":", 2);
        boolean known = decoded(given[0]).equals(client) && decoded(given[1]).equals(secret)
                && "client_credentials".equals(members.get("grant_type"));
        byte[] body = Json.write(known
                ? Json.object().put("access_token", token(requests.size())).put("token_type", "Bearer")
                        .put("expires_in", expiresIn)
                : Json.object().put("error", "invalid_client " + decoded(given[1])));
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(known ? 200 : 401, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
