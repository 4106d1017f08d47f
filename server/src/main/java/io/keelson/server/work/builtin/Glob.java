package io.keelson.server.work.builtin;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.keelson.server.engine.tool.ToolFailure;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * Path patterns as people know them from .gitignore: {@code *} and {@code ?} within a name, {@code **} over folders,
 * {@code [a-z]}, {@code {a,b}}. A pattern without a slash is matched against the last name, at any depth.
 */
final class Glob {

    private final Pattern pattern;
    private final boolean wholePath;

    private Glob(String text) {
        String trimmed = text.startsWith("/") ? text.substring(1) : text;
        this.wholePath = text.contains("/");
        this.pattern = Pattern.compile(regex(trimmed), Pattern.DOTALL);
    }

    /** The patterns of a string or a list of strings; none when the node is missing. */
    static List<Glob> all(JsonNode node) throws ToolFailure {
        List<Glob> globs = new ArrayList<>();
        for (JsonNode each : node.isString() ? List.of(node) : node) {
            try {
                globs.add(new Glob(each.stringValue()));
            } catch (PatternSyntaxException e) {
                throw ToolFailure.permanent("GLOB_INVALID", each.stringValue() + ": " + e.getDescription());
            }
        }
        return globs;
    }

    /** @param path relative, with {@code /} */
    boolean matches(String path) {
        return pattern.matches(wholePath ? path : path.substring(path.lastIndexOf('/') + 1));
    }

    static boolean any(List<Glob> globs, String path) {
        return globs.stream().anyMatch(glob -> glob.matches(path));
    }

    private static String regex(String glob) {
        StringBuilder regex = new StringBuilder();
        int braces = 0;
        for (int i = 0; i < glob.length(); i++) {
            char c = glob.charAt(i);
            if (glob.startsWith("**/", i)) {
                regex.append("(?:.*/)?");
                i += 2;
            } else if (glob.startsWith("**", i)) {
                regex.append(".*");
                i++;
            } else if (c == '[' && glob.indexOf(']', i + 2) > 0) {
                int end = glob.indexOf(']', i + 2);
                regex.append('[').append(glob, i + 1, end).append(']');
                i = end;
            } else if (c == '{') {
                regex.append("(?:");
                braces++;
            } else if (c == '}' && braces > 0) {
                regex.append(')');
                braces--;
            } else if (c == ',' && braces > 0) {
                regex.append('|');
            } else {
                regex.append(c == '*' ? "[^/]*" : c == '?' ? "[^/]" : Pattern.quote(String.valueOf(c)));
            }
        }
        return regex.toString().replace("[!", "[^");
    }
}
