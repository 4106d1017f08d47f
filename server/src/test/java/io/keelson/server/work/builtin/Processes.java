package io.keelson.server.work.builtin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Processes of this machine. */
public final class Processes {

    private Processes() {}

    /** False for a killed process, too, whose parent has not asked for its exit code yet. */
    public static boolean alive(long pid) {
        try {
            return !Files.readString(Path.of("/proc/" + pid + "/stat")).replaceAll("(?s).*\\) ", "").startsWith("Z");
        } catch (IOException e) {
            return false;
        }
    }
}
