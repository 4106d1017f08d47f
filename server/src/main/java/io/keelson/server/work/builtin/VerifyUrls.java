package io.keelson.server.work.builtin;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** {@code verify.urls}: whether an output has enough URLs, all of the allowed hosts. Nothing is requested from them. */
final class VerifyUrls implements Tool {

    private static final Pattern URL = Pattern.compile("(?i)\\bhttps?://[^\\s<>\"'()\\[\\]{}|\\\\^`]*");
    private static final Pattern END = Pattern.compile("[.,;:!?]+$");

    private static final ToolSpec SPEC = VerifierAnswers.spec("verify.urls",
            "Judges the URLs in an output: their number, form and hosts. It requests none of them.", """
            {"type": "object", "additionalProperties": false, "required": ["output"], "properties": {
              "output": {"description": "what is judged; one that is no text is taken as JSON"},
              "min": {"type": "integer", "minimum": 0, "maximum": 10000000, "default": 0,
                      "description": "the least number of different URLs"},
              "hosts": {"type": "array", "minItems": 1, "maxItems": 100,
                        "items": {"type": "string", "minLength": 1, "maxLength": 253},
                        "description": "the only hosts, with their subdomains"}}}""");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) {
        JsonNode input = call.input();
        Set<String> urls = new TreeSet<>();
        Matcher found = URL.matcher(VerifierAnswers.text(input.get("output")));
        while (found.find()) {
            urls.add(END.matcher(found.group()).replaceFirst(""));
        }
        Set<String> hosts = input.path("hosts").valueStream().map(each -> each.stringValue().toLowerCase(Locale.ROOT))
                .collect(Collectors.toSet());
        List<String> flaws = new ArrayList<>();
        int least = input.path("min").asInt(0);
        if (urls.size() < least) {
            flaws.add("the output has " + urls.size() + " URLs, at least " + least + " are required");
        }
        for (String url : urls) {
            String host = host(url);
            if (host == null) {
                flaws.add(url + " is no valid URL");
            } else if (!hosts.isEmpty() && hosts.stream().noneMatch(each -> host.equals(each)
                    || host.endsWith("." + each))) {
                flaws.add(url + " is not of an allowed host");
            }
        }
        return flaws.isEmpty() ? VerifierAnswers.passed() : VerifierAnswers.rejected(call.redaction(), 0, flaws);
    }

    private static @Nullable String host(String url) {
        try {
            String host = new URI(url).getHost();
            return host == null ? null : host.toLowerCase(Locale.ROOT);
        } catch (URISyntaxException e) {
            return null;
        }
    }
}
