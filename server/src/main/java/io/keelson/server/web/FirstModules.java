package io.keelson.server.web;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The modules that the first one imports, directly or by others: the browser asks for all of them at once. */
final class FirstModules {

    private static final String FIRST = "app.js";
    /** Not {@code import(…)}, by which a page loads what it needs later. */
    private static final Pattern IMPORT = Pattern.compile("(?:import|from)\\s*[\"']([^\"']+)[\"']");

    private FirstModules() {}

    /** @param sources path to content */
    static Set<String> of(Map<String, byte[]> sources) {
        Set<String> found = new LinkedHashSet<>();
        Deque<String> open = new ArrayDeque<>(List.of(FIRST));
        while (!open.isEmpty()) {
            String name = open.removeFirst();
            if (!found.add(name)) {
                continue;
            }
            Matcher imports = IMPORT.matcher(
                    new String(Objects.requireNonNull(sources.get(name), name), StandardCharsets.UTF_8));
            while (imports.find()) {
                String to = imports.group(1);
                open.add(to.startsWith(".") ? Path.of(name).resolveSibling(to).normalize().toString().replace('\\', '/')
                        : Objects.requireNonNull(LitModules.specifiers().get(to), to));
            }
        }
        return found;
    }
}
