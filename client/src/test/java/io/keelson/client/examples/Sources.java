package io.keelson.client.examples;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Java sources outside the modules: in examples and in documents. */
final class Sources {

    static final Path EXAMPLES = Path.of("..", "examples", "custom-worker").toAbsolutePath().normalize();
    private static final Path DOCS = Path.of("..", "docs").toAbsolutePath().normalize();
    private static final Pattern BLOCK = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern CLASS_NAME = Pattern.compile("public class (\\w+)");

    private Sources() {}

    /** What the compiler says; empty when all is well. */
    static String compile(List<Path> files, Path output) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            List<String> options = List.of("--release", "17", "-Xlint:all", "-proc:none", "-d", output.toString(),
                    "-cp", System.getProperty("java.class.path"));
            compiler.getTask(messages, manager, null, options, null, manager.getJavaFileObjectsFromPaths(files)).call();
        }
        return messages.toString();
    }

    static List<Path> examples() throws IOException {
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList();
        }
    }

    /** The programs of a document, each written to a file of its own. */
    static List<Path> programs(String document, Path folder) throws IOException {
        Matcher blocks = BLOCK.matcher(Files.readString(DOCS.resolve(document)));
        List<Path> files = new ArrayList<>();
        while (blocks.find()) {
            files.add(write(blocks.group(1), folder));
        }
        return files;
    }

    private static Path write(String program, Path folder) {
        Matcher name = CLASS_NAME.matcher(program);
        if (!name.find()) {
            throw new IllegalArgumentException("not a complete program:\n" + program);
        }
        try {
            return Files.writeString(folder.resolve(name.group(1) + ".java"), program);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
