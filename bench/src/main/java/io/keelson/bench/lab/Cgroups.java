package io.keelson.bench.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * A mounted hierarchy of cgroups that may limit processors.
 *
 * @param root the folder of its mount
 * @param unified whether it has version 2: one file for quota and period
 */
record Cgroups(Path root, boolean unified) {
    private static final Path MOUNTS = Path.of("/proc/self/mounts");
    private static final String CONTROLLER = "cpu";

    /** The hierarchies of this machine, of version 1 first; none without {@code /proc}. */
    static List<Cgroups> all() {
        try {
            return Files.readAllLines(MOUNTS).stream().map(line -> line.split(" ")).filter(Cgroups::limits)
                    .map(fields -> new Cgroups(Path.of(fields[1]), fields[2].equals("cgroup2"))).toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Mounts of version 1 have the controllers among their options. */
    private static boolean limits(String... mount) {
        return mount[2].equals("cgroup2")
                || mount[2].equals("cgroup") && Arrays.asList(mount[3].split(",")).contains(CONTROLLER);
    }

    /**
     * Makes a group whose processes together have a share of a processor.
     *
     * @throws IOException without the privilege, or without the controller
     */
    Path limited(String name, double share, long periodMicros) throws IOException {
        Path group = root.resolve(name);
        if (unified && !Files.readString(root.resolve("cgroup.subtree_control")).matches("(?s).*\\bcpu\\b.*")) {
            Files.writeString(root.resolve("cgroup.subtree_control"), "+" + CONTROLLER);
        }
        Files.createDirectory(group);
        try {
            long quota = Math.round(share * periodMicros);
            if (unified) {
                Files.writeString(group.resolve("cpu.max"), quota + " " + periodMicros);
            } else {
                Files.writeString(group.resolve("cpu.cfs_period_us"), Long.toString(periodMicros));
                Files.writeString(group.resolve("cpu.cfs_quota_us"), Long.toString(quota));
            }
            return group;
        } catch (IOException e) {
            Files.delete(group);
            throw e;
        }
    }

    /** For the report. */
    String title() {
        return String.format(Locale.ROOT, "quota of a cgroup, version %d", unified ? 2 : 1);
    }
}
