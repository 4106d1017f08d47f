package io.keelson.server.base.artifact;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A run's documents in one folder. The writer locks its file {@code .mark}: a suspended process keeps others out, and a
 * crash releases the lock. The file records the progress of the documents.
 */
final class RunDirectory implements DocumentStore.Writing {

    private static final String MARK = ".mark";
    private static final String NEW = ".new";
    private static final String ATTEMPTS = "attempts";
    private static final int MARK_BYTES = 64;
    private static final Pattern MARK_TEXT = Pattern.compile("(\\d{1,9}) (\\d{1,18}) (\\d{1,18}) (true|false)\\s*");
    private static final Pattern NAME = Pattern.compile("(?:steps/\\d{1,18}|status|manifest)\\.json");

    private final Path folder;
    private final FileChannel channel;
    private final FileLock lock;
    private DocumentStore.Mark mark;

    private RunDirectory(Path folder, FileChannel channel, FileLock lock) throws IOException {
        this.folder = folder;
        this.channel = channel;
        this.lock = lock;
        this.mark = read(channel);
    }

    /** Null while another process has it. */
    static @Nullable RunDirectory open(Path folder) throws IOException {
        boolean created = !Files.isDirectory(folder);
        PrivateFolders.createAll(folder);
        if (created) {
            sync(Objects.requireNonNull(folder.getParent()));
        }
        FileChannel channel = FileChannel.open(folder.resolve(MARK), StandardOpenOption.CREATE,
                StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            FileLock lock = tryLock(channel);
            if (lock != null && Files.exists(folder.resolve(MARK))) {
                return new RunDirectory(folder, channel, lock);
            }
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
        channel.close();
        return null;
    }

    private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null; // another server of this process
        }
    }

    /** An unreadable mark counts as no mark: the documents are written once more. */
    private static DocumentStore.Mark read(FileChannel channel) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(MARK_BYTES);
        channel.read(bytes, 0);
        Matcher text = MARK_TEXT.matcher(new String(bytes.array(), 0, bytes.position(), StandardCharsets.US_ASCII));
        return text.matches()
                ? new DocumentStore.Mark(Integer.parseInt(text.group(1)), Long.parseLong(text.group(2)),
                        Long.parseLong(text.group(3)), Boolean.parseBoolean(text.group(4)))
                : DocumentStore.Mark.NONE;
    }

    @Override
    public DocumentStore.Mark mark() {
        return mark;
    }

    @Override
    public void mark(DocumentStore.Mark now) throws IOException {
        if (now.equals(mark)) {
            return;
        }
        String text = now.attempt() + " " + now.seq() + " " + now.steps() + " " + now.sealed();
        byte[] padded = Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), MARK_BYTES);
        Arrays.fill(padded, text.length(), MARK_BYTES, (byte) ' ');
        channel.write(ByteBuffer.wrap(padded), 0);
        channel.force(false);
        mark = now;
    }

    @Override
    public void put(String name, byte[] bytes) throws IOException {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("not a document of a run: " + name);
        }
        Path file = folder.resolve(name);
        if (same(file, bytes)) {
            return;
        }
        Path parent = name.startsWith("steps/") ? made("steps") : folder;
        Path temporary = folder.resolve(NEW);
        try (FileChannel out = FileChannel.open(temporary, StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            ByteBuffer left = ByteBuffer.wrap(bytes);
            while (left.hasRemaining()) {
                out.write(left);
            }
            out.force(true);
        }
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        sync(parent);
    }

    private static boolean same(Path file, byte[] bytes) throws IOException {
        try {
            return Files.size(file) == bytes.length && Arrays.equals(Files.readAllBytes(file), bytes);
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private Path made(String name) throws IOException {
        Path inner = folder.resolve(name);
        if (!Files.isDirectory(inner)) {
            PrivateFolders.create(inner);
            sync(folder);
        }
        return inner;
    }

    /** The status goes last: as long as it is not there, there is nothing in its place. */
    @Override
    public void shelve(int attempt) throws IOException {
        Path shelf = made(ATTEMPTS).resolve(String.valueOf(attempt));
        PrivateFolders.createAll(shelf);
        for (String name : new String[] {"steps", "manifest.json", "status.json"}) {
            try {
                Files.move(folder.resolve(name), shelf.resolve(name), StandardCopyOption.ATOMIC_MOVE);
            } catch (NoSuchFileException e) {
                // moved before a crash, or never there
            }
        }
        sync(shelf);
        sync(folder.resolve(ATTEMPTS));
        sync(folder);
    }

    @Override
    public void remove() throws IOException {
        remove(folder);
    }

    /** The mark goes last: until then a crash leaves a run's folder, which is found again. */
    private static void remove(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
                for (Path entry : entries) {
                    if (!entry.endsWith(MARK)) {
                        remove(entry);
                    }
                }
            }
            Files.deleteIfExists(path.resolve(MARK));
        }
        Files.deleteIfExists(path);
    }

    @Override
    public void close() throws IOException {
        try (FileChannel _ = channel) {
            lock.release();
        }
    }

    private static void sync(Path folder) throws IOException {
        try (FileChannel held = FileChannel.open(folder, StandardOpenOption.READ)) {
            held.force(true);
        }
    }
}
