package io.keelson.server.secret;

import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Strikes secrets out of what is written down: as they are, in Base64, and as a URL has them. Who transforms a secret in
 * another way can still write it down.
 */
public final class Redaction {

    /** What stands in a secret's place. */
    public static final String STRUCK = "[secret]";

    public static final Redaction NONE = new Redaction(List.of());

    /** Longest first: one may be part of another. */
    private final List<String> forms;

    private Redaction(List<String> forms) {
        this.forms = forms;
    }

    static Redaction of(Collection<String> values) {
        Set<String> forms = new LinkedHashSet<>();
        for (String value : values) {
            byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
            forms.add(value);
            forms.add(Base64.getEncoder().encodeToString(bytes));
            forms.add(Base64.getEncoder().withoutPadding().encodeToString(bytes));
            forms.add(Base64.getUrlEncoder().withoutPadding().encodeToString(bytes));
            forms.add(URLEncoder.encode(value, StandardCharsets.UTF_8));
            forms.add(URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20"));
            value.lines().filter(line -> line.length() >= Secrets.MIN_LENGTH * 2).forEach(forms::add);
        }
        return new Redaction(forms.stream().sorted(Comparator.comparing(String::length).reversed()).toList());
    }

    /** True when there is nothing to strike out. */
    public boolean none() {
        return forms.isEmpty();
    }

    public String text(String text) {
        String left = text;
        for (String form : forms) {
            left = left.replace(form, STRUCK);
        }
        return left;
    }

    /** The same content with every secret struck out as it is read. */
    public InputStream stream(InputStream content) {
        return forms.isEmpty() ? content
                : new StrikingStream(content,
                        forms.stream().map(form -> form.getBytes(StandardCharsets.UTF_8))
                                .sorted(Comparator.comparing((byte[] form) -> form.length).reversed()).toList());
    }

    /** The same document with every string, field names included, and every number struck that is a secret. */
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
        return node.isNumber() && forms.contains(node.toString()) ? JsonNodeFactory.instance.stringNode(STRUCK) : node;
    }
}
