package io.keelson.server.base.artifact;

import io.keelson.server.base.json.SafeText;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
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
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Artifacts as files below one folder. A file appears under its key only when all its bytes are on disk: it is written
 * beside, synced, and renamed, and its folders are synced after. A crash leaves at most a file under {@code incoming},
 * which the next start removes.
 */
public final class LocalArtifactStore implements ArtifactStore {

    /** The default bound of one artifact: 10 GiB. */
    public static final long DEFAULT_MAX_BYTES = 10L << 30;

    /** The folder beside the artifacts that is no artifact's: {@link #documents}. */
    public static final String DOCUMENTS = "runs";
    private static final int KEY_BATCH_SIZE = 1_000;
    /** Maximum tries to create a folder that a concurrent cleaner removes as empty. */
    private static final int MAX_TRIES = 10;
    private static final String UUID_PATTERN = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
    private static final Pattern KEY = Pattern.compile(
            UUID_PATTERN + "/" + UUID_PATTERN + "/" + UUID_PATTERN + "/[0-9]{1,10}-[0-9]{1,10}/" + UUID_PATTERN);
    private static final Pattern CONTENT_TYPE =
            Pattern.compile("[\\w.+*-]{1,100}/[\\w.+*-]{1,100}( ?;[\\x20-\\x7e]{1,100})?");

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
        ArtifactName.check(name);
        if (!CONTENT_TYPE.matcher(contentType).matches()) {
            throw new ArtifactRefusedException("ARTIFACT_TYPE_INVALID", "not a media type: " + contentType);
        }
        UUID id = UUID.randomUUID();
        String key = "%s/%s/%s/%d-%d/%s".formatted(owner.workspaceId(), owner.runId(), owner.stepId(),
                owner.attempt(), owner.leaseEpoch(), id);
        Path temporary = staging.file(id);
        try {
            DigestInputStream digesting = new DigestInputStream(content, sha256());
            long size = write(digesting, temporary);
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
                if (attributes.lastModifiedTime().toInstant().isBefore(time) && KEY.matcher(key).matches()) {
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

    /** Documents about runs beside the artifacts. */
    public DocumentStore documents() throws IOException {
        return new LocalDocumentStore(root.resolve(DOCUMENTS));
    }

    @Override
    public long maxBytes() {
        return maxBytes;
    }

    private Path locate(String storageKey) throws NoSuchFileException {
        if (!KEY.matcher(storageKey).matches()) {
            throw new NoSuchFileException(storageKey);
        }
        return root.resolve(storageKey);
    }

    private long write(InputStream content, Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            OutputStream out = Channels.newOutputStream(channel);
            byte[] buffer = new byte[1 << 16];
            long size = 0;
            for (int n = content.read(buffer); n >= 0; n = content.read(buffer)) {
                size += n;
                if (size > maxBytes) {
                    throw new ArtifactRefusedException("ARTIFACT_TOO_LARGE",
                            "an artifact has at most " + maxBytes + " bytes");
                }
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

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** The rule for names of artifacts: a name is safe as a file name on every system. */
    private static final class ArtifactName {

        private static final int MAX_BYTES = 255;

        private ArtifactName() {}

        static void check(String name) throws ArtifactRefusedException {
            if (name.isBlank() || name.equals(".") || name.equals("..")) {
                throw refused("an artifact needs a name");
            }
            if (name.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
                throw refused("an artifact's name has at most " + MAX_BYTES + " bytes");
            }
            if (name.indexOf('/') >= 0 || name.indexOf('\\') >= 0) {
                throw refused("an artifact's name is no path: " + name);
            }
            String hidden = SafeText.hidden(name);
            if (hidden != null || !SafeText.clean(name).equals(name)) {
                throw refused("an artifact's name has no control or format characters"
                        + (hidden == null ? "" : ", not " + hidden));
            }
        }

        private static ArtifactRefusedException refused(String message) {
            return new ArtifactRefusedException("ARTIFACT_NAME_INVALID", message);
        }
    }
}
