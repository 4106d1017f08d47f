package io.keelson.bench.server;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How a server is started: by {@code ./keelson}, or as a {@link BenchServer} from this class path in tests. */
public final class Launcher {
    /** Path of {@code ./keelson}; set by {@code ./benchmark} and handed on, absent in tests. */
    private static final String PROPERTY = "keelson.launcher";

    private Launcher() {}

    /** Options for a JVM that starts servers as this one would. */
    public static List<String> handedOn() {
        String launcher = System.getProperty(PROPERTY);
        return launcher == null ? List.of() : List.of("-D" + PROPERTY + "=" + launcher);
    }

    static List<String> command(List<String> jvm) {
        String launcher = System.getProperty(PROPERTY);
        if (launcher != null) {
            return List.of(launcher, "server");
        }
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvm);
        command.addAll(List.of("-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), BenchServer.class.getName()));
        return command;
    }
}
