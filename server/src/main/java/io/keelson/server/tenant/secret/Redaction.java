package io.keelson.server.tenant.secret;

import io.keelson.server.base.json.Json;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Redacts secrets from texts: plain, in lower case, in Base64 (also as part of an encoded text), and as in URLs, JSON,
 * HTML, CSV and shells. It cannot find a secret that was transformed in another way.
 */
public final class Redaction {

    /** The text that replaces a secret. */
    public static final String REDACTED = "[secret]";

    /** Shorter pieces of Base64, lines, and words in lower case would stand in texts by chance. */
    private static final int MIN_PIECE = SecretStore.MIN_LENGTH * 2;

    public static final Redaction NONE = new Redaction(List.of());

    /** Longest first: one may be part of another. */
    private final List<String> forms;

    private Redaction(List<String> forms) {
        this.forms = forms;
    }

    /** Redacts these texts, too. */
    public Redaction and(Collection<String> values) {
        List<String> all = Stream.concat(forms.stream(), of(values).forms.stream()).distinct()
                .sorted(Comparator.comparing(String::length).reversed()).toList();
        return new Redaction(all);
    }

    static Redaction of(Collection<String> values) {
        Set<String> forms = new LinkedHashSet<>();
        for (String value : values) {
            forms.add(value);
            if (value.length() >= MIN_PIECE) {
                forms.add(value.toLowerCase(Locale.ROOT));
            }
            base64(value.getBytes(StandardCharsets.UTF_8), forms);
            String encoded = URLEncoder.encode(value, StandardCharsets.UTF_8);
            forms.add(encoded);
            forms.add(encoded.replace("+", "%20"));
            forms.add(encoded.replace("+", "%20").replace("*", "%2A").replace("%7E", "~"));
            String json = inner(Json.MAPPER.writeValueAsString(value));
            forms.add(json);
            forms.add(ascii(json));
            forms.add(value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;")
                    .replace("'", "&#39;"));
            forms.add(value.replace("\"", "\"\""));
            forms.add(value.replace("'", "'\\''"));
            value.lines().filter(line -> line.length() >= MIN_PIECE).forEach(forms::add);
        }
        return new Redaction(forms.stream().sorted(Comparator.comparing(String::length).reversed()).toList());
    }

    private static String inner(String quoted) {
        return quoted.substring(1, quoted.length() - 1);
    }

    private static String ascii(String json) {
        StringBuilder text = new StringBuilder();
        json.chars().forEach(c -> text.append(c < 0x80 ? String.valueOf((char) c) : "\\u%04x".formatted(c)));
        return text.toString();
    }

    /**
     * The whole encoding, and the part that is the same in any context: three bytes become four characters, so there
     * are three alignments. Characters that a secret shares with its neighbours at both ends are left out.
     */
    private static void base64(byte[] bytes, Set<String> forms) {
        forms.add(Base64.getEncoder().encodeToString(bytes));
        for (Base64.Encoder encoder : List.of(Base64.getEncoder(), Base64.getUrlEncoder())) {
            forms.add(encoder.withoutPadding().encodeToString(bytes));
            for (int before = 0; before < 3; before++) {
                byte[] shifted = new byte[before + bytes.length];
                System.arraycopy(bytes, 0, shifted, before, bytes.length);
                String own = encoder.encodeToString(shifted).substring((before * 8 + 5) / 6, shifted.length * 8 / 6);
                if (own.length() >= MIN_PIECE) {
                    forms.add(own);
                }
            }
        }
    }

    /** True when there is nothing to redact. */
    public boolean none() {
        return forms.isEmpty();
    }

    public String text(String text) {
        String left = text;
        for (String form : forms) {
            left = left.replace(form, REDACTED);
        }
        return left;
    }

    /** The content, redacted while it is read. */
    public InputStream stream(InputStream content) {
        return forms.isEmpty() ? content
                : new RedactingInputStream(content,
                        forms.stream().map(form -> form.getBytes(StandardCharsets.UTF_8))
                                .sorted(Comparator.comparing((byte[] form) -> form.length).reversed()).toList());
    }

    /** A copy of the document with all strings, field names and numbers redacted. */
    public JsonNode json(JsonNode node) {
        if (forms.isEmpty()) {
            return node;
        }
        if (node.isString()) {
            return JsonNodeFactory.instance.stringNode(text(node.stringValue()));
        }
        if (node.isArray()) {
            ArrayNode array = JsonNodeFactory.instance.arrayNode(node.size());
            node.values().forEach(each -> array.add(json(each)));
            return array;
        }
        if (node.isObject()) {
            ObjectNode object = JsonNodeFactory.instance.objectNode();
            node.properties().forEach(each -> object.set(text(each.getKey()), json(each.getValue())));
            return object;
        }
        return node.isNumber() && forms.contains(node.toString()) ? JsonNodeFactory.instance.stringNode(REDACTED)
                : node;
    }
}
