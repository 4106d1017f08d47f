package io.keelson.server.base.artifact;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Documents as files: a folder for each run, which a lock on a file in it holds for its writer. */
public final class LocalDocumentStore implements DocumentStore {

    private static final int RUN_BATCH_SIZE = 500;
    private static final Pattern RUN = Pattern.compile("run_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})");

    private final Path root;

    /** @param root made when it does not exist */
    public LocalDocumentStore(Path root) throws IOException {
        this.root = PrivateFolders.createAll(root).toRealPath();
    }

    @Override
    public @Nullable Writing open(UUID run) throws IOException {
        return RunDirectory.open(root.resolve("run_" + run));
    }

    @Override
    public void runs(Runs runs) throws IOException {
        List<UUID> found = new ArrayList<>();
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(root)) {
            for (Path folder : folders) {
                var name = RUN.matcher(String.valueOf(folder.getFileName()));
                if (name.matches()) {
                    found.add(UUID.fromString(name.group(1)));
                }
                if (found.size() == RUN_BATCH_SIZE) {
                    runs.take(List.copyOf(found));
                    found.clear();
                }
            }
        } catch (NoSuchFileException e) {
            return;
        }
        if (!found.isEmpty()) {
            runs.take(found);
        }
    }
}
