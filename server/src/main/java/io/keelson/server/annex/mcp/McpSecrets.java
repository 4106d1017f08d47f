package io.keelson.server.annex.mcp;

import io.keelson.server.tenant.secret.SecretStore;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Secrets in headers and variables: {@code ${ secret("NAME") }}. */
final class McpSecrets {
    private static final Pattern SECRET = Pattern.compile("\\$\\{\\s*secret\\(\"([A-Za-z0-9_.-]{1,100})\"\\)\\s*}");

    private McpSecrets() {}

    /** The names of the secrets in the texts. */
    static Set<String> names(Collection<String> texts) {
        Set<String> names = new HashSet<>();
        texts.forEach(text -> SECRET.matcher(text).results().forEach(found -> names.add(found.group(1))));
        return names;
    }

    /** The texts with their secrets opened. */
    static Map<String, String> opened(Map<String, String> texts, SecretStore.Opened secrets) {
        Map<String, String> opened = new TreeMap<>();
        texts.forEach((name, text) -> opened.put(name, SECRET.matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(secrets.values().getOrDefault(found.group(1), "")))));
        return opened;
    }

    /** Whether the text is one secret and nothing else. */
    public static boolean isSecret(String text) {
        return SECRET.matcher(text).matches();
    }

    /** Whether the text has an expression that is no secret. */
    public static boolean hasOtherExpression(String text) {
        return SECRET.matcher(text).replaceAll("").contains("${");
    }
}
