package io.keelson.cli.admin;

import com.sun.management.UnixOperatingSystemMXBean;
import io.keelson.cli.view.AmountText;
import io.keelson.server.annex.model.registry.Models;
import io.keelson.server.annex.model.wiring.ModelConfiguration;
import io.keelson.server.app.DataFolderSpace;
import io.keelson.server.app.InstalledArtifacts;
import io.keelson.server.app.Setting;
import io.keelson.server.app.Settings;
import io.keelson.server.base.artifact.StoreOwner;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.problem.StartupException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Checks the requirements of Keelson on a machine, without changing anything. */
final class MachineChecks {

    private static final int JAVA = 25;
    /** Files of a server besides its sockets. */
    private static final int FILES = 500;
    private static final Set<PosixFilePermission> OF_OTHERS = Set.of(PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE);

    /** Read by the start script. */
    private static final Set<String> LAUNCHER = Set.of("KEELSON_JAVA_HOME", "KEELSON_JAVA_OPTS");

    private MachineChecks() {}

    static CheckResult java(Runtime.Version version) {
        String found = version + " at " + System.getProperty("java.home");
        return version.feature() >= JAVA ? CheckResult.ok("Java", found)
                : CheckResult.fail("Java", found, "install JDK " + JAVA + " or newer and set JAVA_HOME to it");
    }

    /** Names that begin like ours and mean nothing. */
    static List<CheckResult> environment(Map<String, String> environment) {
        Set<String> known = new HashSet<>(LAUNCHER);
        Arrays.stream(Setting.values()).map(Setting::name).forEach(known::add);
        return environment.keySet().stream().sorted()
                .filter(name -> name.startsWith("KEELSON_") && !known.contains(name))
                .map(name -> CheckResult.warn("settings", name + " in the environment is unknown",
                        "docs/reference/configuration.md lists the known names"))
                .toList();
    }

    static List<CheckResult> dataFolder(Path folder) {
        List<CheckResult> findings = new ArrayList<>();
        Path existing = nearest(folder);
        boolean exists = existing.equals(folder);
        if (!Files.isDirectory(existing) || !Files.isWritable(existing)) {
            findings.add(CheckResult.fail("data folder", existing + " cannot be written",
                    "make it writable, or set KEELSON_DATA_DIR to a folder that is"));
        } else if (exists && othersMayEnter(folder)) {
            findings.add(CheckResult.warn("data folder", folder + " can be read by other users of this machine",
                    "chmod 700 " + folder));
        } else {
            findings.add(CheckResult.ok("data folder", folder + (exists ? "" : " (not there yet)")));
        }
        findings.add(space(existing));
        return findings;
    }

    /** The file that KEELSON_MODELS names, with the keys that it names; nothing without one. */
    static List<CheckResult> models(Settings settings) {
        try {
            Models models = ModelConfiguration.read(settings.models());
            return settings.models().file() == null ? List.of()
                    : List.of(CheckResult.ok("models", AmountText.count(models.all().size(), "model") + " in "
                            + settings.models().file()));
        } catch (StartupException e) {
            return List.of(CheckResult.fail("models", e.code() + ": " + e.getMessage(),
                    "correct the file, or KEELSON_MODELS; docs/guide/models.md has its form"));
        }
    }

    /** The object store that KEELSON_ARTIFACTS names; nothing without one. Stores, reads and removes a small object. */
    static List<CheckResult> objectStore(Settings settings) {
        if (settings.artifacts().place() == null) {
            return List.of();
        }
        try (InstalledArtifacts.Opened store = InstalledArtifacts.open(settings)) {
            StoreOwner owner = store.owner();
            return List.of(CheckResult.ok("artifacts",
                    store.store().place() + (owner == null ? ", without an owner" : ", of " + owner)));
        } catch (StartupException e) {
            return List.of(CheckResult.fail("artifacts", e.code() + ": " + e.getMessage(),
                    "docs/operate/object-stores.md describes the settings"));
        } catch (IOException e) {
            return List.of(CheckResult.fail("artifacts", String.valueOf(e.getMessage()), "correct KEELSON_ARTIFACTS"));
        }
    }

    /** A failure if the object store belongs to another database; empty if the store does not respond. */
    static List<CheckResult> storeOwner(Settings settings, DatabaseUrl database) {
        if (settings.artifacts().place() == null) {
            return List.of();
        }
        try (InstalledArtifacts.Opened store = InstalledArtifacts.open(settings)) {
            store.requireClaimable(database);
            return List.of();
        } catch (StartupException e) {
            return e.code().equals(InstalledArtifacts.OTHER_OWNER)
                    ? List.of(CheckResult.fail("artifacts", e.code() + ": " + e.getMessage(),
                            "docs/operate/object-stores.md has the steps"))
                    : List.of();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** The broker of KEELSON_RABBITMQ_URL. Without it workers poll. */
    static List<CheckResult> broker(Settings settings) {
        URI broker = settings.broker();
        if (broker == null) {
            return List.of();
        }
        String problem = settings.brokerProblem();
        return List.of(problem == null ? CheckResult.ok("broker", "RabbitMQ at " + broker.getHost())
                : CheckResult.warn("broker", "RabbitMQ at " + broker.getHost() + ": " + problem + "; workers poll",
                        "start it, or correct KEELSON_RABBITMQ_URL: docs/operate/rabbitmq.md"));
    }

    /** The mail server; none if mail is not configured. */
    static List<CheckResult> mail(Settings settings) {
        String server = settings.mailServer();
        if (server == null) {
            return List.of();
        }
        String problem = settings.mailProblem();
        return List.of(problem == null ? CheckResult.ok("mail", "SMTP at " + server)
                : CheckResult.warn("mail", "SMTP at " + server + ": " + problem + "; notifications wait",
                        "start it, or correct the settings KEELSON_SMTP_…: docs/operate/mail.md"));
    }

    /** The folders that KEELSON_ALLOWED_FOLDERS names. */
    static List<CheckResult> allowedFolders(Settings settings) {
        return settings.tools().folders().allowed().stream().map(each -> {
            if (!Files.isDirectory(each)) {
                return CheckResult.fail("allowed folder", Files.exists(each) ? each + " is not a folder"
                        : "there is no folder " + each, "make it, or correct KEELSON_ALLOWED_FOLDERS");
            }
            return Files.isReadable(each) ? CheckResult.ok("allowed folder", each.toString())
                    : CheckResult.fail("allowed folder", each + " cannot be read",
                            "make it readable, or correct KEELSON_ALLOWED_FOLDERS");
        }).toList();
    }

    private static Path nearest(Path folder) {
        Path path = folder;
        while (!Files.exists(path) && path.getParent() != null) {
            path = path.getParent();
        }
        return path;
    }

    private static boolean othersMayEnter(Path folder) {
        try {
            return Files.getPosixFilePermissions(folder).stream().anyMatch(OF_OTHERS::contains);
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    private static CheckResult space(Path folder) {
        try {
            FileStore disk = Files.getFileStore(folder);
            long free = disk.getUsableSpace();
            String message = AmountText.size(free) + " free";
            if (free < DataFolderSpace.criticalBytes(disk.getTotalSpace())) {
                return CheckResult.fail("disk space", message, "free some, or move KEELSON_DATA_DIR to another disk");
            }
            return free < DataFolderSpace.lowBytes(disk.getTotalSpace())
                    ? CheckResult.warn("disk space", message, "runs and artifacts need more space")
                    : CheckResult.ok("disk space", message);
        } catch (IOException e) {
            return CheckResult.warn("disk space", "unknown: " + e.getMessage(), "check " + folder);
        }
    }

    static CheckResult port(Settings settings) {
        String place = settings.http().host() + ":" + settings.http().port();
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(settings.http().host(), settings.http().port()));
            return CheckResult.ok("port", settings.http().port() == 0 ? "any free one" : place + " is free");
        } catch (IOException e) {
            return CheckResult.fail("port", place + " cannot be used: " + e.getMessage(),
                    "stop the program that listens there, or set KEELSON_HTTP_PORT (0 selects a free one)");
        }
    }

    /** Each connection, and each step that waits for an HTTP answer, is an open file. */
    static CheckResult slots(Settings settings) {
        return slots(settings, ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
                ? system.getMaxFileDescriptorCount()
                : Long.MAX_VALUE);
    }

    /** @param openFiles the most that a process may have */
    static CheckResult slots(Settings settings, long openFiles) {
        int waiting = settings.execution().waitingSlots();
        long needed = (long) waiting + settings.http().connections() + FILES;
        String message = String.format(Locale.ROOT, "%,d steps that compute, %,d that wait",
                settings.execution().slots(), waiting);
        return needed <= openFiles ? CheckResult.ok("slots", message)
                : CheckResult.warn("slots", message + String.format(Locale.ROOT, "; a process may have %,d open files",
                        openFiles), String.format(Locale.ROOT,
                                "raise the limit (ulimit -n) to %d, or lower"
                                        + " KEELSON_WAITING_SLOTS or KEELSON_HTTP_CONNECTIONS",
                                needed));
    }

    static CheckResult git() {
        String version = firstLine("git", "--version");
        return version == null
                ? CheckResult.warn("git", "not found", "install git: process.run uses it, as the example missions do")
                : CheckResult.ok("git", version);
    }

    private static @Nullable String firstLine(String... command) {
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            try (var reader = process.inputReader()) {
                String line = reader.readLine();
                return process.waitFor(5, TimeUnit.SECONDS) && process.exitValue() == 0 ? line : null;
            } finally {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }
}
