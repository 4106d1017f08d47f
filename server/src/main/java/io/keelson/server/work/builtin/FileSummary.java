package io.keelson.server.work.builtin;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Totals over everything a listing found, in memory that does not grow with the number of files. */
final class FileSummary {

    private static final int MAX_UNREADABLE = 100;
    private static final Comparator<FileFacts> BY_PATH = Comparator.comparing(FileFacts::path);

    private static final class Total {
        private long files;
        private long bytes;
        private long lines;
    }

    private final boolean withLines;
    private final int top;
    private final Total all = new Total();
    private final Map<String, Total> languages = new TreeMap<>();
    private final Map<String, Long> others = new TreeMap<>();
    private final List<String> unreadable = new ArrayList<>();
    private final Comparator<FileFacts> bySize =
            Comparator.comparing(FileFacts::size).thenComparing(BY_PATH.reversed());
    private final Comparator<FileFacts> byLines =
            Comparator.comparing(FileFacts::lines).thenComparing(BY_PATH.reversed());
    private final PriorityQueue<FileFacts> largest = new PriorityQueue<>(bySize);
    private final PriorityQueue<FileFacts> longest = new PriorityQueue<>(byLines);
    private long binaries;
    private long unreadables;

    FileSummary(boolean withLines, int top) {
        this.withLines = withLines;
        this.top = top;
    }

    void file(FileFacts file) {
        String language = file.language() != null ? file.language() : file.binary() ? "Binary" : "Other";
        for (Total total : List.of(all, languages.computeIfAbsent(language, each -> new Total()))) {
            total.files++;
            total.bytes += file.size();
            total.lines += file.lines();
        }
        binaries += file.binary() ? 1 : 0;
        keep(largest, file);
        if (withLines && !file.binary()) {
            keep(longest, file);
        }
    }

    void other(String type) {
        others.merge(type, 1L, Long::sum);
    }

    void unreadable(String path) {
        unreadables++;
        if (unreadable.size() < MAX_UNREADABLE) {
            unreadable.add(path);
        }
    }

    private void keep(PriorityQueue<FileFacts> best, FileFacts file) {
        best.add(file);
        if (best.size() > top) {
            best.remove();
        }
    }

    ObjectNode toJson() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("files", all.files);
        json.put("directories", others.getOrDefault("directory", 0L));
        json.put("symlinks", others.getOrDefault("symlink", 0L));
        json.put("others", others.getOrDefault("other", 0L));
        json.put("bytes", all.bytes);
        if (withLines) {
            json.put("lines", all.lines).put("binary_files", binaries);
        }
        json.put("unreadable_count", unreadables);
        ArrayNode paths = json.putArray("unreadable");
        unreadable.forEach(paths::add);
        byLanguage(json.putArray("by_language"));
        files(json.putArray("largest"), largest, bySize);
        if (withLines) {
            files(json.putArray("longest"), longest, byLines);
        }
        return json;
    }

    private void byLanguage(ArrayNode into) {
        languages.entrySet().stream()
                .sorted(Comparator.comparingLong((Map.Entry<String, Total> each) -> each.getValue().bytes).reversed())
                .forEach(each -> {
                    Total total = each.getValue();
                    ObjectNode json = into.addObject().put("language", each.getKey()).put("files", total.files)
                            .put("bytes", total.bytes);
                    if (withLines) {
                        json.put("lines", total.lines);
                    }
                });
    }

    private void files(ArrayNode into, PriorityQueue<FileFacts> best, Comparator<FileFacts> order) {
        best.stream().sorted(order.reversed()).forEach(file -> {
            ObjectNode json = into.addObject().put("path", file.path()).put("size", file.size());
            if (withLines) {
                json.put("lines", file.lines());
            }
        });
    }
}
