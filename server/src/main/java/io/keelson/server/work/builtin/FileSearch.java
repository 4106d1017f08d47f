package io.keelson.server.work.builtin;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import io.keelson.server.base.json.TimedText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** One search over the files of a walk. */
final class FileSearch implements FileWalk.Visitor {

    private static final int BINARY_PROBE = 8_000;
    private static final int MAX_LINE_CHARS = 300;
    private static final int MAX_TEXTS = 1_000;
    private static final int TEXTS_SHOWN = 50;

    private final Pattern pattern;
    private final List<String> words;
    private final List<Glob> globs;
    private final int maxMatches;
    private final long maxFileBytes;
    private final ArrayNode matches = JsonNodeFactory.instance.arrayNode();
    private final Map<String, Long> texts = new HashMap<>();
    private long totalMatches;
    private long matchingLines;
    private long matchingFiles;
    private long searched;
    private long skipped;

    FileSearch(Pattern pattern, List<Glob> globs, int maxMatches, long maxFileBytes) {
        this.pattern = pattern;
        boolean caseMatters = (pattern.flags() & Pattern.CASE_INSENSITIVE) == 0;
        this.words = caseMatters ? Literals.of(pattern.pattern()) : List.of();
        this.globs = globs;
        this.maxMatches = maxMatches;
        this.maxFileBytes = maxFileBytes;
    }

    @Override
    public void found(FileWalk.Found found) throws InterruptedException {
        if (!found.attributes().isRegularFile() || !globs.isEmpty() && !Glob.any(globs, found.path())) {
            return;
        }
        if (found.attributes().size() > maxFileBytes) {
            skipped++;
            return;
        }
        try {
            byte[] bytes = read(found);
            if (isBinary(bytes)) {
                skipped++;
            } else {
                searched++;
                search(found.path(), new String(bytes, StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            skipped++;
        }
    }

    @Override
    public void unreadable(String path) {
        skipped++;
    }

    private byte[] read(FileWalk.Found found) throws IOException {
        try (SeekableByteChannel channel = found.open()) {
            ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(channel.size(), maxFileBytes));
            while (buffer.hasRemaining() && channel.read(buffer) >= 0) {
                continue;
            }
            return buffer.hasRemaining() ? Arrays.copyOf(buffer.array(), buffer.position()) : buffer.array();
        }
    }

    private static boolean isBinary(byte[] bytes) {
        for (int i = 0; i < Math.min(bytes.length, BINARY_PROBE); i++) {
            if (bytes[i] == 0) {
                return true;
            }
        }
        return false;
    }

    private void search(String path, String text) throws InterruptedException {
        if (!Literals.possible(words, text)) {
            return;
        }
        long before = totalMatches;
        int number = 1;
        for (int start = 0; start < text.length(); number++) {
            int end = text.indexOf('\n', start);
            end = end < 0 ? text.length() : end;
            line(path, number, text.substring(start, end));
            start = end + 1;
        }
        matchingFiles += totalMatches > before ? 1 : 0;
    }

    private void line(String path, int number, String line) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("the search was interrupted");
        }
        if (!Literals.possible(words, line)) {
            return;
        }
        Matcher matcher = pattern.matcher(new TimedText(line));
        boolean any = false;
        while (matcher.find()) {
            any = true;
            totalMatches++;
            String text = matcher.group();
            if (texts.size() < MAX_TEXTS || texts.containsKey(text)) {
                texts.merge(text.length() > MAX_LINE_CHARS ? text.substring(0, MAX_LINE_CHARS) : text, 1L, Long::sum);
            }
            if (matches.size() < maxMatches) {
                matches.addObject().put("path", path).put("line", number).put("column", matcher.start() + 1)
                        .put("text", around(line, matcher.start()));
            }
        }
        matchingLines += any ? 1 : 0;
    }

    private static String around(String line, int at) {
        if (line.length() <= MAX_LINE_CHARS) {
            return line.strip();
        }
        int from = Math.max(0, Math.min(at - MAX_LINE_CHARS / 3, line.length() - MAX_LINE_CHARS));
        return line.substring(from, from + MAX_LINE_CHARS).strip();
    }

    ObjectNode toJson() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.set("matches", matches);
        json.put("truncated", matches.size() < totalMatches);
        json.put("total_matches", totalMatches);
        json.put("matching_lines", matchingLines);
        json.put("matching_files", matchingFiles);
        json.put("files_searched", searched);
        json.put("files_skipped", skipped);
        ArrayNode byText = json.putArray("by_text");
        texts.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed()
                        .thenComparing(Map.Entry.comparingByKey(Comparator.naturalOrder())))
                .limit(TEXTS_SHOWN)
                .forEach(each -> byText.addObject().put("text", each.getKey()).put("count", each.getValue()));
        return json;
    }
}
