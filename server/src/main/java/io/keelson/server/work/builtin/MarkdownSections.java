package io.keelson.server.work.builtin;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The sections of a Markdown text by their headings: of {@code #} marks or underlined, outside of code fences. */
final class MarkdownSections {
    private static final Pattern MARKED = Pattern.compile(" {0,3}(#{1,6})(?:[ \\t]+(.*?))?(?:[ \\t]+#+)?[ \\t]*");
    private static final Pattern UNDERLINE = Pattern.compile(" {0,3}(=+|-+)[ \\t]*");
    private static final Pattern FENCE = Pattern.compile(" {0,3}(`{3,}|~{3,}).*");

    /** By title: whether the section or one below it has any text. */
    private final Map<String, Boolean> filled = new LinkedHashMap<>();
    /** Titles of the sections that a line now belongs to, by level. */
    private final @Nullable String[] open = new String[7];

    /** A line of text that may yet turn out to be underlined. */
    private String pending = "";
    /** The opening of the code fence around the line; empty outside. */
    private String fence = "";

    MarkdownSections(String markdown) {
        markdown.lines().forEach(this::line);
        text(pending);
    }

    private void line(String line) {
        Matcher fenced = FENCE.matcher(line);
        boolean underline = UNDERLINE.matcher(line).matches();
        if (!fence.isEmpty()) {
            fence = fenced.matches() && fenced.group(1).startsWith(fence) ? "" : fence;
            text(line);
        } else if (underline && !pending.isBlank()) {
            heading(line.strip().startsWith("=") ? 1 : 2, pending);
            pending = "";
        } else {
            text(pending);
            pending = "";
            Matcher marked = MARKED.matcher(line);
            if (fenced.matches()) {
                fence = fenced.group(1);
            } else if (marked.matches()) {
                heading(marked.group(1).length(), marked.group(2) == null ? "" : marked.group(2));
            } else if (!underline) {
                pending = line;
            }
        }
    }

    boolean has(String title) {
        return filled.containsKey(normal(title));
    }

    /** Whether there is any text below the heading. */
    boolean hasText(String title) {
        return filled.getOrDefault(normal(title), false);
    }

    private void heading(int level, String title) {
        for (int below = level; below < open.length; below++) {
            open[below] = null;
        }
        String name = normal(title);
        open[level] = name;
        filled.putIfAbsent(name, false);
    }

    private void text(String line) {
        if (!line.isBlank()) {
            for (String title : open) {
                if (title != null) {
                    filled.put(title, true);
                }
            }
        }
    }

    private static String normal(String title) {
        return title.strip().replaceAll("\\s+", " ").toLowerCase(Locale.ROOT);
    }
}
