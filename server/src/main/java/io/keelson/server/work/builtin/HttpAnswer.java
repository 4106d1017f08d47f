package io.keelson.server.work.builtin;

import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.base.outbound.OutboundResponse;
import io.keelson.server.engine.tool.ToolFailure;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** An HTTP answer as a step's output: parsed when it is JSON, text when it is text, base64 otherwise. */
final class HttpAnswer {

    private static final Pattern JSON = Pattern.compile("application/(.+\\+)?json");
    private static final Pattern TEXT = Pattern.compile("text/.*|application/(.+\\+)?(xml|yaml)"
            + "|application/(javascript|x-www-form-urlencoded|x-ndjson)");
    private static final Pattern CHARSET = Pattern.compile("charset=\"?([\\w.:-]+)");

    private HttpAnswer() {}

    /** @throws ToolFailure {@code OUTPUT_INVALID} for JSON beyond the bounds of documents */
    static ObjectNode toJson(String url, OutboundResponse response) throws ToolFailure {
        ObjectNode answer = JsonNodeFactory.instance.objectNode().put("status", response.status()).put("url", url);
        ObjectNode headers = answer.putObject("headers");
        response.headers().forEach((name, value) -> {
            if (name.equals(OutboundResponse.COOKIES)) {
                value.lines().forEach(headers.putArray(name)::add);
            } else {
                headers.put(name, value);
            }
        });
        String type = String.valueOf(response.header("content-type")).toLowerCase(Locale.ROOT);
        String media = type.replaceAll(";.*", "").strip();
        if (response.body().length == 0) {
            return answer.put("body", "");
        }
        JsonNode parsed = JSON.matcher(media).matches() ? parse(response.body()) : null;
        if (parsed != null) {
            answer.set("json", parsed);
        } else if (JSON.matcher(media).matches() || TEXT.matcher(media).matches()) {
            answer.put("body", new String(response.body(), charset(type)));
        } else {
            answer.put("body_base64", Base64.getEncoder().encodeToString(response.body()));
        }
        return answer;
    }

    private static @Nullable JsonNode parse(byte[] body) throws ToolFailure {
        try {
            return OutsideJson.read(body);
        } catch (StreamConstraintsException e) {
            throw ToolFailure.permanent("OUTPUT_INVALID", "the JSON of the answer: "
                    + Excerpt.firstLine(e.getOriginalMessage()));
        } catch (JacksonException e) {
            return null;
        }
    }

    private static Charset charset(String type) {
        Matcher matcher = CHARSET.matcher(type);
        try {
            return matcher.find() ? Charset.forName(matcher.group(1)) : StandardCharsets.UTF_8;
        } catch (IllegalArgumentException e) {
            return StandardCharsets.UTF_8;
        }
    }
}
