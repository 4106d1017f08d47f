package io.keelson.server.annex.oidc;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A browser without scripts: cookies by host and port, redirects, and the forms of the provider. */
final class Browser implements AutoCloseable {

    private static final Pattern FORM =
            Pattern.compile("<form[^>]*action=\"([^\"]+)\"[^>]*>(.*?)</form>", Pattern.DOTALL);
    private static final Pattern INPUT =
            Pattern.compile("<(?:input|button)[^>]*name=\"([^\"]+)\"[^>]*?(?:value=\"([^\"]*)\")?\\s*/?>");
    private static final int MOST_REDIRECTS = 12;

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER).build();
    private final Map<String, Map<String, String>> cookies = new LinkedHashMap<>();

    /** @param address that was asked last */
    record Page(URI address, HttpResponse<String> answer) {

        int status() {
            return answer.statusCode();
        }

        String text() {
            return answer.body();
        }
    }

    Page get(URI address, String... headers) {
        return send(address, HttpRequest.newBuilder(address).header("Accept", "text/html").GET(), headers);
    }

    /** Follows redirects until a page, or an address that begins with a text, which is not asked. */
    Page follow(URI start, String until) {
        Page page = get(start);
        for (int i = 0; i < MOST_REDIRECTS && page.status() / 100 == 3; i++) {
            URI next = page.address.resolve(page.answer.headers().firstValue("Location").orElseThrow());
            if (next.toString().startsWith(until)) {
                return new Page(next, page.answer);
            }
            page = get(next);
        }
        return page;
    }

    /** Sends the page's form with some values in place of its own, and follows. */
    Page submit(Page page, Map<String, String> values, String until) {
        Matcher form = FORM.matcher(page.text());
        if (!form.find()) {
            throw new AssertionError("no form: " + page.status() + " " + page.text());
        }
        Map<String, String> fields = new LinkedHashMap<>();
        Matcher input = INPUT.matcher(form.group(2));
        while (input.find()) {
            fields.put(input.group(1), input.group(2) == null ? "" : input.group(2));
        }
        fields.putAll(values);
        Page next = post(page.address.resolve(form.group(1).replace("&amp;", "&")), fields);
        if (next.status() / 100 != 3) {
            return next;
        }
        URI to = next.address.resolve(next.answer.headers().firstValue("Location").orElseThrow());
        return to.toString().startsWith(until) ? new Page(to, next.answer) : follow(to, until);
    }

    Page post(URI address, Map<String, String> fields, String... headers) {
        StringJoiner body = new StringJoiner("&");
        fields.forEach((name, value) -> body.add(encode(name) + "=" + encode(value)));
        return send(address, HttpRequest.newBuilder(address).header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(body.toString())), headers);
    }

    /** A request as the dashboard sends it. */
    Page api(String method, URI address, String json) {
        return send(address, HttpRequest.newBuilder(address).header("Content-Type", "application/json")
                .header("Sec-Fetch-Site", "same-origin")
                .method(method, HttpRequest.BodyPublishers.ofString(json)));
    }

    /** The cookies that it has for a server. */
    Map<String, String> cookies(URI server) {
        return cookies.getOrDefault(server.getAuthority(), Map.of());
    }

    private Page send(URI address, HttpRequest.Builder request, String... headers) {
        Map<String, String> jar = cookies.computeIfAbsent(address.getAuthority(), _ -> new LinkedHashMap<>());
        if (!jar.isEmpty()) {
            StringJoiner all = new StringJoiner("; ");
            jar.forEach((name, value) -> all.add(name + "=" + value));
            request.header("Cookie", all.toString());
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        try {
            HttpResponse<String> answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
            answer.headers().allValues("Set-Cookie").forEach(each -> keep(jar, each));
            return new Page(address, answer);
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void keep(Map<String, String> jar, String header) {
        String[] pair = header.substring(0, header.indexOf(';') < 0 ? header.length() : header.indexOf(';'))
                .split("=", 2);
        if (pair[1].isEmpty() || header.contains("Max-Age=0;") || header.contains("01 Jan 1970")) {
            jar.remove(pair[0]);
        } else {
            jar.put(pair[0], pair[1]);
        }
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        http.close();
    }
}
