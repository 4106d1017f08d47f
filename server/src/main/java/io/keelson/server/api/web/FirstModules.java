package io.keelson.server.api.web;

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
import org.jspecify.annotations.Nullable;

/** The modules that a page needs, directly or by others: the browser asks for all of them at once. */
final class FirstModules {

    /** The module of every page. */
    static final String APP = "app.js";
    /** Asks for the session; executed before the others. */
    static final String ME = "store/me.js";
    /** Modules that {@link #APP} imports later, by the first part of an address below {@code /ui/}. */
    private static final String PAGES = "page/";
    private static final String FIRST_PAGE = "overview";
    private static final String LIST = "runs";
    private static final String RUN = "run";
    private static final String TRANSCRIPT = "transcript";
    /** Excludes {@code import(…)}, which loads modules later. */
    private static final Pattern IMPORT = Pattern.compile("\\b(?:import|from)\\s*[\"']([\\w@./-]+)[\"']");

    private FirstModules() {}

    /** The module that {@link #APP} imports for this address, as {@code page/runs.js} for {@code /ui/runs}. It may not exist. */
    static String page(String address) {
        String[] parts = address.replaceFirst("^/ui/?", "").split("/", -1);
        String name = parts[0].isEmpty() ? FIRST_PAGE : parts[0];
        boolean one = name.equals(LIST) && parts.length > 1;
        return PAGES + (one ? parts.length > 2 ? TRANSCRIPT : RUN : name) + ".js";
    }

    static boolean isPage(String module) {
        return module.startsWith(PAGES);
    }

    /**
     * Modules of every page come first, so that the frame appears before its content.
     *
     * @param sources path to content
     * @param page null for what every page needs
     */
    static Set<String> of(Map<String, byte[]> sources, @Nullable String page) {
        Set<String> found = new LinkedHashSet<>();
        add(sources, ME, found);
        add(sources, APP, found);
        if (page != null) {
            add(sources, page, found);
        }
        return found;
    }

    private static void add(Map<String, byte[]> sources, String first, Set<String> found) {
        Deque<String> open = new ArrayDeque<>(List.of(first));
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
    }
}
