package io.keelson.server.base.artifact;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.DigestInputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Artifacts as files below one folder. A file appears under its key only when all its bytes are on disk: it is written
 * beside, synced, and renamed, and its folders are synced after. A crash leaves at most a file under {@code incoming},
 * which the next start removes.
 */
public final class LocalArtifactStore implements CopyableStore {

    /** The default bound of one artifact: 10 GiB. */
    public static final long DEFAULT_MAX_BYTES = 10L << 30;

    /** The folder of {@link LocalDocumentStore}, which has no artifacts. */
    public static final String DOCUMENTS = "runs";
    private static final int KEY_BATCH_SIZE = 1_000;
    /** Maximum tries to create a folder that a concurrent cleaner removes as empty. */
    private static final int MAX_TRIES = 10;

    private final Path root;
    private final StagingDirectory staging;
    private final long maxBytes;

    public LocalArtifactStore(Path root) throws IOException {
        this(root, DEFAULT_MAX_BYTES);
    }

    /** @param root made when it does not exist; belongs to the store alone */
    public LocalArtifactStore(Path root, long maxBytes) throws IOException {
        this.root = PrivateFolders.createAll(root).toRealPath();
        this.staging = new StagingDirectory(this.root.resolve("incoming"));
        this.maxBytes = maxBytes;
    }

    @Override
    public StoredArtifact put(ArtifactOwner owner, String name, String contentType, InputStream content)
            throws IOException {
        ArtifactRules.check(name, contentType);
        String key = ArtifactRules.newKey(owner);
        Path temporary = staging.file(UUID.randomUUID());
        try {
            DigestInputStream digesting = new DigestInputStream(content, ArtifactRules.sha256());
            long size = write(digesting, temporary, maxBytes);
            publish(temporary, root.resolve(key));
            String hash = HexFormat.of().formatHex(digesting.getMessageDigest().digest());
            return new StoredArtifact(name, contentType, size, hash, key);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    @Override
    public InputStream open(String storageKey) throws IOException {
        return Files.newInputStream(locate(storageKey));
    }

    @Override
    public long size(String storageKey) throws IOException {
        Path file = locate(storageKey);
        return Files.isRegularFile(file) ? Files.size(file) : -1;
    }

    @Override
    public void copyIn(String storageKey, InputStream content, String sha256) throws IOException {
        Path file = locate(storageKey);
        Path temporary = staging.file(UUID.randomUUID());
        try {
            DigestInputStream digesting = new DigestInputStream(content, ArtifactRules.sha256());
            write(digesting, temporary, Long.MAX_VALUE);
            String actual = HexFormat.of().formatHex(digesting.getMessageDigest().digest());
            if (!actual.equals(sha256)) {
                throw new ContentDamagedException(sha256, actual);
            }
            publish(temporary, file);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    @Override
    public String place() {
        return root.toString();
    }

    @Override
    public boolean delete(String storageKey) throws IOException {
        Path file = locate(storageKey);
        boolean deleted = Files.deleteIfExists(file);
        for (Path folder = parent(file); !folder.equals(root); folder = parent(folder)) {
            try {
                Files.deleteIfExists(folder);
            } catch (DirectoryNotEmptyException e) {
                break;
            }
        }
        return deleted;
    }

    @Override
    public void storedBefore(Instant time, Keys keys) throws IOException {
        List<String> found = new ArrayList<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return folder.equals(root.resolve(DOCUMENTS)) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                String key = root.relativize(file).toString().replace(File.separatorChar, '/');
                if (attributes.lastModifiedTime().toInstant().isBefore(time) && ArtifactRules.isKey(key)) {
                    found.add(key);
                }
                if (found.size() == KEY_BATCH_SIZE) {
                    keys.take(List.copyOf(found));
                    found.clear();
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                if (failure instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE; // removed meanwhile
                }
                throw failure;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException failure) {
                return FileVisitResult.CONTINUE;
            }
        });
        if (!found.isEmpty()) {
            keys.take(found);
        }
    }

    @Override
    public long maxBytes() {
        return maxBytes;
    }

    private Path locate(String storageKey) throws NoSuchFileException {
        if (!ArtifactRules.isKey(storageKey)) {
            throw new NoSuchFileException(storageKey);
        }
        return root.resolve(storageKey);
    }

    private static long write(InputStream content, Path file, long most) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            OutputStream out = Channels.newOutputStream(channel);
            byte[] buffer = new byte[1 << 16];
            long size = 0;
            for (int n = content.read(buffer); n >= 0; n = content.read(buffer)) {
                size += n;
                ArtifactRules.checkSize(size, most);
                out.write(buffer, 0, n);
            }
            channel.force(true);
            return size;
        }
    }

    private void publish(Path temporary, Path file) throws IOException {
        for (int left = MAX_TRIES; true; left--) {
            try {
                makeFolders(parent(file));
                Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
                sync(parent(file));
                return;
            } catch (NoSuchFileException e) {
                if (left == 0) {
                    throw e;
                }
            }
        }
    }

    /** Every path below the root has one. */
    private static Path parent(Path path) {
        return Objects.requireNonNull(path.getParent());
    }

    private void makeFolders(Path folder) throws IOException {
        if (folder.equals(root) || Files.isDirectory(folder)) {
            return;
        }
        makeFolders(parent(folder));
        try {
            PrivateFolders.create(folder);
            sync(parent(folder));
        } catch (FileAlreadyExistsException e) {
            // another step of the run made it at the same time
        }
    }

    private static void sync(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
