package io.keelson;

import io.keelson.server.base.db.TestDatabase;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * How tests start the program in a process of its own. An AOT cache of its classes, made once per build, halves the
 * processor time of a start. The JVM takes it for jars only, so the folders of the class path are packed first.
 */
public final class ChildJvm {
    private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    private static final List<String> OPTIONS = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED");
    private static final Path FOLDER = Path.of("target", "child-jvm").toAbsolutePath();
    private static final String CACHE = "keelson.aot";
    private static final String MISSION =
            "name: training\nplan: {tasks: [{id: a, steps: [{tool: echo}, {tool: wait, input: {seconds: 0.1}}]}]}\n";

    /** Made when first asked for. */
    private static final ChildJvm CHILD = new ChildJvm();

    private final String classPath;
    private final Path cache;

    private ChildJvm() {
        List<Path> folders = entries().filter(Files::isDirectory).toList();
        Path home = FOLDER.resolve(Integer.toHexString(System.getProperty("java.class.path").hashCode()));
        classPath = entries().map(each -> folders.contains(each) ? jar(home, folders.indexOf(each)) : each)
                .map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        cache = home.resolve(CACHE);
        try {
            if (!Files.exists(cache) || newest() > Files.getLastModifiedTime(cache).toMillis()) {
                Files.createDirectories(home);
                Files.deleteIfExists(cache);
                for (Path folder : folders) {
                    pack(folder, jar(home, folders.indexOf(folder)));
                }
                train(home);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The command without a main class: the JVM, its options and the class path, all as absolute paths. */
    public static List<String> command() {
        List<String> command = new ArrayList<>();
        command.add(JAVA);
        command.addAll(OPTIONS);
        command.addAll(
                List.of("-XX:AOTCache=" + CHILD.cache, "-Xlog:aot*=off", "-Xlog:cds*=off", "-cp", CHILD.classPath));
        return command;
    }

    private static Stream<Path> entries() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(each -> Path.of(each).toAbsolutePath()).filter(Files::exists);
    }

    private static Path jar(Path home, int number) {
        return home.resolve("classes" + number + ".jar");
    }

    private static long newest() throws IOException {
        long newest = 0;
        for (Path entry : entries().toList()) {
            try (Stream<Path> files = Files.walk(entry)) {
                newest = Math.max(newest, files.mapToLong(file -> file.toFile().lastModified()).max().orElse(0));
            }
        }
        return newest;
    }

    private static void pack(Path folder, Path jar) throws IOException {
        try (Stream<Path> files = Files.walk(folder);
                OutputStream out = Files.newOutputStream(jar); ZipOutputStream zip = new ZipOutputStream(out)) {
            zip.setLevel(0);
            // With entries for folders, too: Flyway looks for one.
            for (Path file : files.filter(each -> !each.equals(folder)).sorted().toList()) {
                String name = folder.relativize(file).toString().replace(File.separatorChar, '/');
                zip.putNextEntry(new ZipEntry(Files.isDirectory(file) ? name + "/" : name));
                if (Files.isRegularFile(file)) {
                    Files.copy(file, zip);
                }
                zip.closeEntry();
            }
        }
    }

    /** Executes a mission in the very JVM that is started later, which records its classes and writes the cache. */
    private void train(Path home) throws IOException, InterruptedException {
        Path work = Files.createTempDirectory(home, "training-");
        Path mission = Files.writeString(work.resolve("mission.yaml"), MISSION);
        Path made = work.resolve(CACHE);
        List<String> command = new ArrayList<>(List.of(JAVA));
        command.addAll(OPTIONS);
        command.addAll(List.of("-XX:AOTCacheOutput=" + made, "-cp", classPath, "io.keelson.cli.Main", "run",
                mission.toString()));
        Path log = work.resolve("log");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_"));
        builder.environment().put("KEELSON_DATA_DIR", work.resolve("data").toString());
        builder.environment().put("KEELSON_DATABASE_URL", TestDatabase.text(TestDatabase.createUrl()));
        if (builder.start().waitFor() != 0 || !Files.exists(made)) {
            throw new IllegalStateException("no AOT cache was made:\n" + Files.readString(log));
        }
        Files.move(made, cache, StandardCopyOption.ATOMIC_MOVE);
    }
}
