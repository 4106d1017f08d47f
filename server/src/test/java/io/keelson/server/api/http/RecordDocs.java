package io.keelson.server.api.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The javadoc of the API's records, read from their source files: Markdown texts of records and of their components. */
final class RecordDocs {

    private static final Path SOURCES = Path.of("..", "api", "src", "main", "java");
    private static final Pattern DOCUMENTED =
            Pattern.compile("/\\*\\*((?:(?!\\*/).)*)\\*/\\s*(?:@\\w+(?:\\([^)]*\\))?\\s*)*(?:public )?record\\s+(\\w+)",
                    Pattern.DOTALL);
    private static final Pattern INLINE = Pattern.compile("\\{@(?:code|link) #?([^}]*)\\}");

    private final Map<String, String> texts = new HashMap<>();
    private final List<Class<?>> records = new ArrayList<>();

    /** Reads all source files of the module. */
    static RecordDocs read() {
        RecordDocs docs = new RecordDocs();
        try (Stream<Path> files = Files.walk(SOURCES)) {
            files.filter(file -> file.toString().endsWith(".java") && !file.endsWith("package-info.java")).sorted()
                    .forEach(docs::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return docs;
    }

    /** All records, nested ones included. */
    List<Class<?>> records() {
        return records;
    }

    /**
     * The description of a record's component; of the record itself if the name is empty.
     *
     * @throws IllegalStateException if the javadoc has none
     */
    String text(Class<?> record, String component) {
        String text = texts.get(key(record.getNestHost().getName(), record.getSimpleName(), component));
        if (text == null || text.isEmpty()) {
            throw new IllegalStateException("add to the javadoc of " + record.getName() + " the description "
                    + (component.isEmpty() ? "of the record" : "@param " + component));
        }
        return text;
    }

    private static String key(String file, String record, String component) {
        return file + " " + record + " " + component;
    }

    private void add(Path file) {
        String name = SOURCES.relativize(file).toString().replace('/', '.').replaceAll("\\.java$", "");
        try {
            Matcher found = DOCUMENTED.matcher(Files.readString(file));
            Class<?> top = Class.forName(name);
            add(top);
            while (found.find()) {
                document(name, found.group(2), found.group(1));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("compile the module api", e);
        }
    }

    private void add(Class<?> type) {
        if (type.isRecord()) {
            records.add(type);
        }
        Stream.of(type.getDeclaredClasses()).sorted((a, b) -> a.getName().compareTo(b.getName())).forEach(this::add);
    }

    private void document(String file, String record, String comment) {
        String[] tags = comment.replaceAll("(?m)^\\s*\\* ?", "").split("(?m)^\\s*@param ");
        texts.put(key(file, record, ""), markdown(tags[0]));
        for (int i = 1; i < tags.length; i++) {
            String[] parts = tags[i].strip().split("\\s+", 2);
            texts.put(key(file, record, parts[0]), parts.length < 2 ? "" : markdown(parts[1]));
        }
    }

    /** On one line, with a capital at its beginning and without the full stop of a single sentence. */
    private static String markdown(String text) {
        String line = INLINE.matcher(text.strip().replaceAll("\\s+", " ")).replaceAll(
                found -> Matcher.quoteReplacement("`" + found.group(1) + "`"));
        String whole = line.endsWith(".") && line.indexOf(". ") < 0 ? line.substring(0, line.length() - 1) : line;
        return whole.isEmpty() ? whole : whole.substring(0, 1).toUpperCase(java.util.Locale.ROOT) + whole.substring(1);
    }
}
