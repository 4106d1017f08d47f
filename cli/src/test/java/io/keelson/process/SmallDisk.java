package io.keelson.process;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file system of its own in memory, which a test fills and frees. Only root can mount it. */
final class SmallDisk implements AutoCloseable {

    private static final int CHUNK = 1 << 16;

    private final Path folder;
    private final Path ballast;

    /** @param size as mount takes it */
    SmallDisk(Path folder, String size) throws IOException, InterruptedException {
        this.folder = folder;
        this.ballast = folder.resolve("ballast");
        Files.createDirectories(folder);
        execute("mount", "-t", "tmpfs", "-o", "mode=755,size=" + size, "tmpfs", folder.toString());
    }

    /** Whether this user can mount one. */
    static boolean available() throws IOException, InterruptedException {
        Path trial = Files.createTempDirectory("keelson-disk");
        try {
            new SmallDisk(trial, "64k").close();
            return true;
        } catch (IOException e) {
            return false;
        } finally {
            Files.deleteIfExists(trial);
        }
    }

    Path folder() {
        return folder;
    }

    /** Takes all space that is left. */
    void fill() {
        byte[] bytes = new byte[CHUNK];
        try (OutputStream out = Files.newOutputStream(ballast)) {
            for (int size = CHUNK; size > 0; size /= 2) {
                fill(out, bytes, size);
            }
        } catch (IOException e) {
            // it is full, also for what the stream keeps back
        }
    }

    private static void fill(OutputStream out, byte[] bytes, int size) {
        try {
            while (true) {
                out.write(bytes, 0, size);
            }
        } catch (IOException e) {
            // no more pieces of this size
        }
    }

    /** Gives the space free again. */
    void free() throws IOException {
        Files.deleteIfExists(ballast);
    }

    @Override
    public void close() throws IOException {
        try {
            // a process that is about to end may have files open
            execute("umount", "--lazy", folder.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void execute(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes());
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + ": " + said);
        }
    }
}
