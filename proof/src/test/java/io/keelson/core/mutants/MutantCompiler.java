package io.keelson.core.mutants;

import io.keelson.core.decide.Decider;
import io.keelson.core.sim.MutantRunner;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/** Puts a mutant into a copy of the core and lets the simulation loose on it. The classes of this JVM are not touched. */
final class MutantCompiler {
    private static final Path SOURCES = Path.of("../core/src/main/java/io/keelson/core");

    private final Mutant mutant;
    private final Path folder;

    /** @param folder empty; for the mutated classes */
    MutantCompiler(Mutant mutant, Path folder) {
        this.mutant = mutant;
        this.folder = folder;
    }

    /**
     * Simulates seeds until a law is broken, beginning with the mutant's own.
     *
     * @return what was found; null when the mutant survived
     */
    @Nullable String hunt(int seeds) throws IOException {
        compile(mutated());
        URL[] classes = {folder.toUri().toURL(), where(Decider.class), where(MutantRunner.class)};
        try (URLClassLoader loader = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader())) {
            return (String) loader.loadClass(MutantRunner.class.getName()).getMethod("hunt", int.class, int.class)
                    .invoke(null, mutant.firstSeed(), seeds);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** @throws IllegalStateException if the source does not have the quoted text exactly once */
    String mutated() throws IOException {
        String source = Files.readString(SOURCES.resolve(mutant.file()));
        Pattern was = Pattern.compile(Arrays.stream(mutant.was().split(" ")).map(Pattern::quote)
                .collect(Collectors.joining("\\s+")));
        long found = was.matcher(source).results().count();
        if (found != 1) {
            throw new IllegalStateException(
                    "'" + mutant.was() + "' occurs " + found + " times in " + mutant.file() + ", not once");
        }
        return was.matcher(source).replaceFirst(Matcher.quoteReplacement(mutant.becomes()));
    }

    private void compile(String source) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter complaints = new StringWriter();
        JavaFileObject file = new SimpleJavaFileObject(URI.create("mutant:///io/keelson/core/" + mutant.file()),
                JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return source;
            }
        };
        String path = Path.of(uri(Decider.class)) + System.getProperty("path.separator")
                + Path.of(uri(Nullable.class));
        boolean compiled = compiler.getTask(complaints, null, null,
                List.of("-proc:none", "-nowarn", "-d", folder.toString(), "-cp", path), null, List.of(file)).call();
        if (!compiled) {
            throw new IllegalStateException("'" + mutant + "' does not compile: " + complaints);
        }
    }

    private static URL where(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }

    private static URI uri(Class<?> type) {
        try {
            return where(type).toURI();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
