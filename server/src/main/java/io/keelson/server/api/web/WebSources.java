package io.keelson.server.api.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the dashboard's files, from a folder or from the jar that this class came in. */
final class WebSources {

    /** Whole lines of comments: a template of Lit has no line that begins like one. */
    private static final Pattern COMMENT =
            Pattern.compile("(?m)^ *(?://[^\n]*|/\\*[^*]*+(?:\\*(?!/)[^*]*+)*+\\*/ *$)");

    private WebSources() {}

    /** A file as browsers get it: scripts and styles without their comments, each of whose lines stays as an empty one. */
    static byte[] withoutComments(String name, byte[] bytes) {
        if (!name.endsWith(".js") && !name.endsWith(".css")) {
            return bytes;
        }
        return COMMENT.matcher(new String(bytes, StandardCharsets.UTF_8))
                .replaceAll(comment -> "\n".repeat((int) comment.group().lines().count() - 1))
                .getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Path with slashes to content, in the order of paths.
     *
     * @param folder null for the files of the jar
     */
    static Map<String, byte[]> read(@Nullable Path folder) {
        try {
            if (folder != null) {
                return below(folder);
            }
            Path home = Path.of(WebSources.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (Files.isDirectory(home)) {
                return below(home.resolve("web"));
            }
            try (FileSystem jar = FileSystems.newFileSystem(home)) {
                return below(jar.getPath("/web"));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the files of the dashboard", e);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Map<String, byte[]> below(Path folder) throws IOException {
        Map<String, byte[]> all = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                all.put(folder.relativize(file).toString().replace('\\', '/'), Files.readAllBytes(file));
            }
        }
        return all;
    }
}
